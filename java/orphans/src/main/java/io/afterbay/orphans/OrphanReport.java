package io.afterbay.orphans;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.flink.core.fs.Path;

/**
 * What was found, and what became of it.
 *
 * @param nowMs at which ages are taken
 * @param searched where checkpoints were looked for
 * @param checkpoints {@code _metadata} files that were read
 * @param referenced files that they refer to
 * @param problems why it is not known what is referred to; nothing is deleted if there are any
 */
public record OrphanReport(
        long nowMs,
        Duration olderThan,
        List<Path> searched,
        int checkpoints,
        int referenced,
        List<Problem> problems,
        List<JobOrphans> jobs) {

    /** A number of files. */
    public record Total(long files, long bytes) {
        static final Total NONE = new Total(0, 0);

        Total plus(StoredFile file) {
            return new Total(files + 1, bytes + file.bytes());
        }
    }

    OrphanReport with(List<JobOrphans> others) {
        return new OrphanReport(
                nowMs, olderThan, searched, checkpoints, referenced, problems, others);
    }

    private Stream<Orphan> orphans() {
        return jobs.stream().flatMap(job -> job.orphans().stream());
    }

    /** Of those orphans. */
    public Total total(Predicate<Orphan> condition) {
        return orphans()
                .filter(condition)
                .map(Orphan::file)
                .reduce(Total.NONE, Total::plus, (a, b) -> b);
    }

    /** By what is done with them; nothing for those of which there are none. */
    public Map<Verdict, Total> totals() {
        Map<Verdict, Total> totals = new EnumMap<>(Verdict.class);
        orphans()
                .forEach(
                        orphan ->
                                totals.put(
                                        orphan.verdict(),
                                        totals.getOrDefault(orphan.verdict(), Total.NONE)
                                                .plus(orphan.file())));
        return totals;
    }

    /** Whether something was held back that should be looked at, or could not be deleted. */
    public boolean isComplete() {
        return problems.isEmpty()
                && jobs.stream().allMatch(job -> job.unfinished().isEmpty())
                && orphans().allMatch(orphan -> orphan.failure() == null);
    }
}
