package io.afterbay.store.page;

/**
 * How far compaction is behind, and from where on appends wait for it.
 *
 * <pre>
 *   files:  | live | held by snapshots | garbage that could be reclaimed                        |
 *                                      |- permitted -|- urgent -|----- 2 more -----| here they wait
 * </pre>
 *
 * <p>While there is more such garbage than the bound, what files grow by beyond a grace is a debt,
 * whoever writes it (images do, too), which deleted files pay, whoever deletes them. So files that
 * have reached the bound do not grow, and a store comes into no debt by garbage that appears at
 * once, without appends, however much it is: when a snapshot ends that held it, when a large state
 * is cleared, or in the files of a restore. The background has a head start there.
 *
 * <p>The bound is four times what is permitted. Compaction begins at once, and is urgent at twice,
 * so a store that comes to four has written as much again as was permitted, twice over, while
 * compaction was in line with its writes. What is permitted includes two segments, so the bound is
 * never below eight, which are as much as the memory, up to 512 MiB: a store that hardly spills
 * does not reach it. Garbage in segments that cannot be compacted yet, because streams or write
 * buffers belong to them, is in five at most: above the bound there always is something to reclaim.
 *
 * <p>All methods need the log's lock.
 */
final class CompactionDebt {
    static final int BOUND_FACTOR = 4;

    /** What compactions have copied of a segment before they delete it is no growth. */
    private static final int GRACE_SEGMENTS = 2;

    private final SegmentLog log;

    /** Of the permitted garbage. Tests change both. */
    int boundFactor = BOUND_FACTOR;

    int graceSegments = GRACE_SEGMENTS;

    private boolean isAboveBound;
    private long lastBytes;
    private long debt;

    CompactionDebt(SegmentLog log) {
        this.log = log;
    }

    /** Whether whoever is about to append has to reclaim something first. */
    boolean isDue(long permittedGarbage) {
        long bytes = log.fileBytes();
        if (isAboveBound || bytes < lastBytes) {
            debt = Math.max(0, debt + bytes - lastBytes);
        }
        lastBytes = bytes;
        isAboveBound = garbage() > boundFactor * permittedGarbage;
        return isAboveBound && debt > graceSegments * log.segmentBytes;
    }

    private long garbage() {
        return log.reclaimableBytes() + log.deadBytes();
    }
}
