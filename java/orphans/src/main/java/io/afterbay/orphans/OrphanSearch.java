package io.afterbay.orphans;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.core.fs.Path;

/** Finds files in checkpoint storage that no checkpoint refers to. */
public final class OrphanSearch {
    private final CheckpointPaths paths;
    private final Consumer<String> progress;

    /**
     * @param progress takes what is being done, now and then
     */
    public OrphanSearch(CheckpointPaths paths, Consumer<String> progress) {
        this.paths = paths;
        this.progress = progress;
    }

    /**
     * Finds those of a job or of several.
     *
     * @param directory of a job, or one with directories of jobs
     * @param referencedFrom other checkpoints, savepoints, or directories with such, which may
     *     refer to files in that directory
     * @param olderThan age of files that may be deleted
     * @throws IOException if a directory cannot be listed or is none of these; it says why
     */
    public OrphanReport run(String directory, List<String> referencedFrom, Duration olderThan)
            throws IOException, InterruptedException {
        Path root = Storage.resolve(directory);
        long nowMs = System.currentTimeMillis();
        List<JobFiles> jobs = new ArrayList<>();
        for (Path job : jobDirectories(root)) {
            jobs.add(JobFiles.list(job, progress));
        }
        List<Path> searched = new ArrayList<>(List.of(rootOf(root)));
        for (String other : referencedFrom) {
            searched.add(withCheckpoints(other));
        }
        References references = new References(paths, progress);
        references.read(searched);
        return new OrphanReport(
                nowMs,
                olderThan,
                searched,
                references.checkpoints().size(),
                references.size(),
                List.copyOf(references.problems()),
                jobs.stream().map(job -> orphans(job, references, nowMs, olderThan)).toList());
    }

    private static List<Path> jobDirectories(Path root) throws IOException {
        List<Storage.Entry> entries = Storage.list(root);
        if (entries.stream().anyMatch(entry -> entry.name().equals(JobLayout.METADATA))) {
            throw new IOException(
                    "%s is a single checkpoint or savepoint; name the directory of its job"
                            .formatted(root));
        }
        if (entries.stream().anyMatch(JobLayout::isOfJob)) {
            return List.of(root);
        }
        List<Path> jobs =
                entries.stream()
                        .filter(e -> e.isOwnDirectory() && JobLayout.isJobId(e.name()))
                        .map(Storage.Entry::path)
                        .sorted(Comparator.comparing(Path::toString)) // not Comparable in Flink 2
                        .toList();
        if (jobs.isEmpty()) {
            throw new IOException(
                    ("%s has neither chk-*, shared or taskowned, as a job's directory, nor"
                                    + " directories named by job ids, as execution.checkpointing.dir")
                            .formatted(root));
        }
        return jobs;
    }

    /** Where the other jobs are, which may have restored a checkpoint of this one. */
    private static Path rootOf(Path directory) {
        Path parent = directory.getParent();
        return parent != null && JobLayout.isJobId(directory.getName()) ? parent : directory;
    }

    private static Path withCheckpoints(String text) throws IOException {
        Path path = Storage.resolve(text);
        if (MetadataSearch.below(List.of(path), problem -> {}).isEmpty()) {
            throw new IOException(
                    ("--referenced-from %s: there is no checkpoint or savepoint (no _metadata there,"
                                    + " or in two levels of directories below)")
                            .formatted(text));
        }
        return path;
    }

    private static JobOrphans orphans(
            JobFiles job, References references, long nowMs, Duration olderThan) {
        OrphanRules rules =
                new OrphanRules(job, nowMs, olderThan.toMillis(), references.problems().isEmpty());
        List<Orphan> orphans =
                job.files().stream()
                        .filter(found -> !references.contains(found.file()))
                        .map(found -> Orphan.of(found.file(), rules.of(found)))
                        .toList();
        return new JobOrphans(
                job.directory(),
                orphans,
                rules.unfinished().stream().map(JobFiles.Checkpoint::path).toList(),
                job.checkpoints().stream()
                        .filter(c -> !c.isComplete() && !rules.unfinished().contains(c))
                        .map(JobFiles.Checkpoint::path)
                        .toList(),
                job.links());
    }
}
