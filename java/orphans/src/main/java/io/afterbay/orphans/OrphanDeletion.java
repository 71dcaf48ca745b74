package io.afterbay.orphans;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.core.fs.Path;

/** Deletes what nobody needs. */
public final class OrphanDeletion {
    private final Consumer<String> progress;
    private long deleted;

    /**
     * @param progress takes what is being done, now and then
     */
    public OrphanDeletion(Consumer<String> progress) {
        this.progress = progress;
    }

    /** The report with what became of the files. */
    public OrphanReport run(OrphanReport found) {
        List<JobOrphans> jobs = new ArrayList<>();
        for (JobOrphans job : found.jobs()) {
            jobs.add(job.with(job.orphans().stream().map(this::delete).toList()));
            if (found.problems().isEmpty()) {
                job.abandoned().forEach(OrphanDeletion::deleteEmpty);
            }
        }
        return found.with(jobs);
    }

    private Orphan delete(Orphan orphan) {
        if (orphan.verdict() != Verdict.DELETE) {
            return orphan;
        }
        try {
            if (!Storage.delete(orphan.file())) {
                return orphan.failed("it was changed or deleted meanwhile; look again");
            }
            deleted++;
            progress.accept("%,d files deleted".formatted(deleted));
            return orphan.deleted();
        } catch (IOException e) {
            return orphan.failed(Problem.reason(e));
        }
    }

    /** A directory that stays does no harm. */
    private static void deleteEmpty(Path checkpoint) {
        try {
            Storage.deleteEmpty(checkpoint);
        } catch (IOException e) {
            // So it stays.
        }
    }
}
