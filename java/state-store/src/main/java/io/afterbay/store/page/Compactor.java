package io.afterbay.store.page;

import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreOptions;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the files within the permitted space amplification: moves the pages that are still live out
 * of the segments with the most garbage, in the background. Pages are found through the page table
 * alone, so that no structure on top needs to know (as in a log-structured file system).
 *
 * <p>Segments that are much shorter than others, as images leave them, are put together when there
 * are many.
 *
 * <p>Segments that a snapshot or an image needs are left alone, and their garbage is not counted:
 * they stay whatever is moved out of them. So are those that have not arrived yet: all of them
 * would have to be fetched, and now.
 *
 * <p>Its executor may put a compaction off. If there is twice as much garbage as permitted before
 * it begins, it runs as urgent as a write. If that does not help either, whoever appends does:
 * {@link CompactionDebt} says when. He compacts segments on his own, other ones than a compaction
 * that is running, and so waits for nobody.
 */
final class Compactor {
    private static final int URGENT_FACTOR = 2;

    /** Each is an open file here, and an entry in the meta data of each checkpoint. */
    static final int SHORT_SEGMENTS_MAX = 32;

    private final PageStore pages;
    private final double maxSpaceAmplification;
    private final Executor executor;
    private final Executor urgent;
    private final long segmentBytes;
    final CompactionDebt debt;
    private boolean isScheduled;
    private boolean isScheduledAsUrgent;
    private boolean isRunning;
    private long garbageWhenIdle;
    private int shortWhenIdle;
    private long relocatedBytes;
    long stalls;
    long stallNanos;

    Compactor(PageStore pages, StoreOptions options, long segmentBytes) {
        this.pages = pages;
        this.maxSpaceAmplification = options.maxSpaceAmplification();
        this.executor = options.compaction();
        this.urgent = options.background();
        this.segmentBytes = segmentBytes;
        this.debt = new CompactionDebt(pages.log);
    }

    long relocatedBytes() {
        return relocatedBytes;
    }

    /** Lock held. */
    void startIfNeeded() {
        if (isRunning || !isNeeded() && !hasManyShort()) {
            return;
        }
        if (!isScheduled) {
            if (garbage() > garbageWhenIdle + segmentBytes / 2
                    || pages.log.shortSegments() > shortWhenIdle + SHORT_SEGMENTS_MAX) {
                isScheduled = true; // before the submission: the executor may run it at once
                isScheduled = pages.log.tasks.submit(this::run, executor) && isScheduled;
            }
        } else if (!isScheduledAsUrgent && garbage() > URGENT_FACTOR * permittedGarbage()) {
            isScheduledAsUrgent = true;
            isScheduledAsUrgent = pages.log.tasks.submit(this::run, urgent) && isScheduledAsUrgent;
        }
    }

    private long garbage() {
        return pages.log.reclaimableBytes();
    }

    private boolean isNeeded() {
        return garbage() > permittedGarbage();
    }

    private boolean hasManyShort() {
        return pages.log.shortSegments() > SHORT_SEGMENTS_MAX;
    }

    private long permittedGarbage() {
        return (long) ((maxSpaceAmplification - 1) * pages.log.liveBytes()) + 2 * segmentBytes;
    }

    /**
     * Before an append: reclaims something if compaction is so far behind. Lock held, and let go of
     * meanwhile; nothing is done amid a freeze, which holds it as well, and appends little.
     */
    void helpIfDue() {
        if (pages.lock.getHoldCount() == 1 && isDue()) {
            pages.log.tasks.runIfOpen(this::help);
        }
    }

    private boolean isDue() {
        return debt.isDue(permittedGarbage());
    }

    private void help() {
        long start = System.nanoTime();
        boolean hasHelped = false;
        while (!pages.log.isFailedOrClosed() && isDue() && reclaimOne()) {
            hasHelped = true;
        }
        if (hasHelped) {
            stalls++;
            stallNanos += System.nanoTime() - start;
        }
    }

    /** Each time files become shorter, so it comes to an end. */
    private boolean reclaimOne() {
        if (pages.log.deleteOneDead()) {
            return true;
        }
        Segment victim = withMostGarbage();
        if (victim != null) {
            compact(victim);
        }
        return victim != null;
    }

    private void run() {
        pages.lock.lock();
        try {
            if (isScheduled && !isRunning) { // else it has been done as urgent
                isRunning = true;
                compact();
            }
        } finally {
            pages.lock.unlock();
        }
    }

    private void compact() {
        try {
            Segment victim;
            while (!pages.log.isFailedOrClosed() && (victim = victim()) != null) {
                compact(victim);
            }
        } catch (StateStoreException e) {
            // The log keeps it and throws it to the owner.
        } finally {
            isRunning = false;
            isScheduled = false;
            isScheduledAsUrgent = false;
            garbageWhenIdle = Math.max(0, garbage() - 2 * segmentBytes);
            shortWhenIdle = Math.max(0, pages.log.shortSegments() - SHORT_SEGMENTS_MAX);
        }
    }

    private @Nullable Segment victim() {
        Segment victim = isNeeded() ? withMostGarbage() : null;
        return victim == null && hasManyShort() ? shortest() : victim;
    }

    private @Nullable Segment withMostGarbage() {
        Segment best = null;
        for (Segment segment : pages.log.segments()) {
            if (isMovable(segment) && (best == null || ratio(segment) < ratio(best))) {
                best = segment;
            }
        }
        return best != null && ratio(best) < 1 / maxSpaceAmplification ? best : null;
    }

    private @Nullable Segment shortest() {
        Segment best = null;
        for (Segment segment : pages.log.segments()) {
            if (isMovable(segment)
                    && pages.log.isShort(segment)
                    && (best == null || segment.end < best.end)) {
                best = segment;
            }
        }
        return best;
    }

    private static boolean isMovable(Segment segment) {
        return segment.sealed
                && segment.liveBytes > 0
                && segment.unflushed.isEmpty()
                && !segment.isHeld();
    }

    private static double ratio(Segment segment) {
        return (double) segment.liveBytes / segment.end;
    }

    private void compact(Segment victim) {
        pages.log.pinSegment(victim);
        pages.lock.unlock();
        try {
            pages.log.visit(victim, this::relocate);
        } finally {
            pages.lock.lock();
            pages.log.unpinSegment(victim);
        }
    }

    private void relocate(long location, long block) {
        int pageId = Block.pageId(block);
        pages.lock.lock();
        try {
            long entry = pageId < pages.table.limit() ? pages.table.get(pageId) : 0;
            if (entry == location) {
                move(pageId, location, block);
            } else if (entry != 0 && Location.isResident(entry) && Frame.disk(entry) == location) {
                // In memory: its eviction writes a new image.
                Frame.setDisk(entry, 0);
                pages.log.release(location);
            }
        } finally {
            pages.lock.unlock();
        }
    }

    private void move(int pageId, long location, long block) {
        long moved = pages.log.append(SegmentLog.RELOCATED_STREAM, block);
        relocatedBytes += Location.blockBytes(moved);
        if (pages.table.get(pageId) == location) {
            pages.table.set(pageId, moved);
            pages.log.release(location);
        } else {
            pages.log.release(moved); // the owner read or freed the page while the append waited
        }
    }
}
