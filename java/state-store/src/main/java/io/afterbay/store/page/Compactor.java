package io.afterbay.store.page;

import io.afterbay.store.StateStoreException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the files within the permitted space amplification: moves the pages that are still live out
 * of the segments with the most garbage, in the background. Pages are found through the page table
 * alone, so that no structure on top needs to know (as in a log-structured file system).
 */
final class Compactor {
    private final PageStore pages;
    private final double maxSpaceAmplification;
    private final long segmentBytes;
    private boolean running;
    private long garbageWhenIdle;
    private long relocatedBytes;

    Compactor(PageStore pages, double maxSpaceAmplification, long segmentBytes) {
        this.pages = pages;
        this.maxSpaceAmplification = maxSpaceAmplification;
        this.segmentBytes = segmentBytes;
    }

    long relocatedBytes() {
        return relocatedBytes;
    }

    /** Lock held. */
    void startIfNeeded() {
        if (!running && isNeeded() && garbage() > garbageWhenIdle + segmentBytes / 2) {
            running = true; // before the submission: the executor may run it at once
            running = pages.log.submit(this::run) && running;
        }
    }

    private long garbage() {
        return pages.log.totalBytes() - pages.log.liveBytes();
    }

    private boolean isNeeded() {
        return pages.log.totalBytes()
                > maxSpaceAmplification * pages.log.liveBytes() + 2 * segmentBytes;
    }

    private void run() {
        pages.lock.lock();
        try {
            Segment victim;
            while (!pages.log.isFailedOrClosed() && isNeeded() && (victim = victim()) != null) {
                compact(victim);
            }
        } catch (StateStoreException e) {
            // The log keeps it and throws it to the owner.
        } finally {
            running = false;
            garbageWhenIdle = Math.max(0, garbage() - 2 * segmentBytes);
            pages.lock.unlock();
        }
    }

    private @Nullable Segment victim() {
        Segment best = null;
        for (Segment segment : pages.log.segments()) {
            if (segment.sealed
                    && segment.liveBytes > 0
                    && segment.unflushed.isEmpty()
                    && (best == null || ratio(segment) < ratio(best))) {
                best = segment;
            }
        }
        return best != null && ratio(best) < 1 / maxSpaceAmplification ? best : null;
    }

    private static double ratio(Segment segment) {
        return (double) segment.liveBytes / segment.end;
    }

    private void compact(Segment victim) {
        victim.pins++;
        pages.lock.unlock();
        try {
            pages.log.visit(victim, this::relocate);
        } finally {
            pages.lock.lock();
            pages.log.unpinSegment(victim);
        }
    }

    private void relocate(int pageId, long location, long page, int pageBytes) {
        pages.lock.lock();
        try {
            long entry = pageId < pages.table.limit() ? pages.table.get(pageId) : 0;
            if (entry == location) {
                move(pageId, location, page, pageBytes);
            } else if (entry != 0 && Location.isResident(entry) && Frame.disk(entry) == location) {
                // In memory: its eviction writes a new image.
                Frame.setDisk(entry, 0);
                pages.log.release(location);
            }
        } finally {
            pages.lock.unlock();
        }
    }

    private void move(int pageId, long location, long page, int pageBytes) {
        long moved = pages.log.append(SegmentLog.RELOCATED_STREAM, pageId, page, pageBytes);
        relocatedBytes += Block.bytes(pageBytes);
        if (pages.table.get(pageId) == location) {
            pages.table.set(pageId, moved);
            pages.log.release(location);
        } else {
            pages.log.release(moved); // the owner read or freed the page while the append waited
        }
    }
}
