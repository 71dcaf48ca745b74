package io.afterbay.orphans;

import java.util.List;

/**
 * Which files that no checkpoint refers to may go.
 *
 * <p>A file in use that no {@code _metadata} names is one of these, and each has a rule:
 *
 * <ul>
 *   <li>Uploaded by a checkpoint that is under way. It is younger than that checkpoint, and this
 *       than {@code execution.checkpointing.timeout}, which the limit has to exceed. Should the
 *       limit be too small: what is newer than the last complete checkpoint before one that is not
 *       complete, and whose directory changed within the limit, stays as well.
 *   <li>Kept open by file merging, across checkpoints, with nothing in it that counts, to be
 *       written to by the next checkpoint; or a working file of ForSt. Both are in directories of
 *       their own, and these stay as they are while the job writes.
 *   <li>In {@code taskowned/}: a write-ahead sink keeps handles in the content of its state, where
 *       nobody can look for them.
 * </ul>
 *
 * <p>What a checkpoint that is under way has in common with the one before is named by the latter.
 * Files are listed before checkpoints are read, so that what is complete meanwhile counts.
 */
final class OrphanRules {
    private final JobFiles job;
    private final long nowMs;
    private final long limitMs;
    private final boolean isAllKnown;
    private final List<JobFiles.Checkpoint> unfinished;
    private final long unfinishedSinceMs;

    /**
     * @param limitMs age of what may be deleted
     * @param isAllKnown whether every checkpoint could be read
     */
    OrphanRules(JobFiles job, long nowMs, long limitMs, boolean isAllKnown) {
        this.job = job;
        this.nowMs = nowMs;
        this.limitMs = limitMs;
        this.isAllKnown = isAllKnown;
        this.unfinished =
                job.checkpoints().stream()
                        .filter(c -> !c.isComplete() && isWithinLimit(c.modifiedMs()))
                        .toList();
        this.unfinishedSinceMs =
                unfinished.stream().mapToLong(this::startMs).min().orElse(Long.MAX_VALUE);
    }

    /** At the earliest, if one checkpoint is under way at a time. */
    private long startMs(JobFiles.Checkpoint checkpoint) {
        return job.checkpoints().stream()
                .filter(c -> c.isComplete() && c.id() < checkpoint.id())
                .mapToLong(JobFiles.Checkpoint::metadataMs)
                .max()
                .orElse(0);
    }

    /** A time that is not known may be any. */
    private boolean isWithinLimit(long timeMs) {
        return timeMs <= 0 || nowMs - timeMs < limitMs;
    }

    /** Checkpoints that seem to be under way. */
    List<JobFiles.Checkpoint> unfinished() {
        return unfinished;
    }

    /**
     * @param found a file that no checkpoint refers to
     */
    Verdict of(JobFiles.Found found) {
        if (found.place() == JobFiles.Place.TASK_OWNED) {
            return Verdict.TASK_OWNED;
        }
        if (!isAllKnown) {
            return Verdict.UNKNOWN;
        }
        if (unfinished.stream().anyMatch(c -> c.id() == found.checkpoint())) {
            return Verdict.UNFINISHED;
        }
        if (isWithinLimit(found.file().modifiedMs())) {
            return Verdict.YOUNG;
        }
        if (found.file().modifiedMs() >= unfinishedSinceMs) {
            return Verdict.UNFINISHED;
        }
        return found.place() == JobFiles.Place.NESTED && isWithinLimit(job.modifiedMs())
                ? Verdict.OPEN
                : Verdict.DELETE;
    }
}
