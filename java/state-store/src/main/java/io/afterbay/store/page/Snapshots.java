package io.afterbay.store.page;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The open snapshots of a page store, and the page images preserved for them. All methods need the
 * lock.
 */
final class Snapshots {
    /** A page as it was for one or several snapshots: in a frame of its own, or in the log. */
    static final class Preserved {
        final int pageId;
        long frame;
        long location;
        int holders;

        Preserved(int pageId) {
            this.pageId = pageId;
        }
    }

    private final PageStore pages;
    private final List<PageSnapshot> open = new ArrayList<>(2);
    private final ArrayDeque<Preserved> inFrames = new ArrayDeque<>();

    Snapshots(PageStore pages) {
        this.pages = pages;
    }

    PageSnapshot open(long epoch) {
        PageSnapshot snapshot = new PageSnapshot(pages, epoch);
        open.add(snapshot);
        return snapshot;
    }

    /** Memory that the open snapshots may come to need for reading. */
    long reserveBytes() {
        return open.size() * (long) PageSnapshot.RESERVE_BYTES;
    }

    /**
     * Before the first change of a page in this epoch: copies it, or keeps its image in the log.
     */
    void preserve(int pageId, long frame) {
        long stamp = Frame.stamp(frame);
        if (!isNeeded(pageId, stamp)) {
            return;
        }
        if (Frame.disk(frame) != 0) {
            preserveLocation(pageId, stamp, Frame.disk(frame));
        } else {
            // The copy comes first: a snapshot must not know of an image for which memory fails.
            int bytes = Frame.bytes(frame);
            long copy = pages.newFrame(pageId, bytes, Frame.stream(frame));
            Memory.copy(frame, copy, bytes);
            preserveFrame(pageId, stamp, copy);
        }
    }

    /** Before a page in memory is freed: true if a snapshot has taken the frame over. */
    boolean preserveByGiving(int pageId, long frame) {
        long stamp = Frame.stamp(frame);
        if (!isNeeded(pageId, stamp)) {
            return false;
        }
        if (Frame.disk(frame) != 0) {
            preserveLocation(pageId, stamp, Frame.disk(frame));
            return false;
        }
        preserveFrame(pageId, stamp, frame);
        return true;
    }

    /** Before a page on disk is freed. */
    void preserveLocation(int pageId, long location) {
        if (isNeeded(pageId, 0)) {
            preserveLocation(pageId, 0, location);
        }
    }

    /** Whether a snapshot reads the page, of that stamp, as it is now. */
    private boolean isNeeded(int pageId, long stamp) {
        for (PageSnapshot snapshot : open) {
            if (isNeededBy(snapshot, pageId, stamp)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isNeededBy(PageSnapshot snapshot, int pageId, long stamp) {
        return !snapshot.hasPassed(pageId)
                && stamp <= snapshot.epoch
                && !snapshot.preserved.containsKey(pageId);
    }

    /**
     * Whether a page in memory, of that stamp, is what a snapshot reads, so that it has not changed
     * since. Only for pages that the snapshot has not passed.
     */
    boolean readsLive(PageSnapshot snapshot, int pageId, long stamp) {
        return isNeededBy(snapshot, pageId, stamp);
    }

    /** A snapshot has no more use for what was preserved of a page for it. */
    void forget(PageSnapshot snapshot, int pageId) {
        Preserved preserved = snapshot.preserved.remove(pageId);
        if (preserved != null) {
            drop(preserved);
        }
    }

    private void preserveLocation(int pageId, long stamp, long location) {
        keepLocation(preservedFor(pageId, stamp), location);
    }

    private void preserveFrame(int pageId, long stamp, long frame) {
        Preserved preserved = preservedFor(pageId, stamp);
        preserved.frame = frame;
        inFrames.add(preserved);
    }

    /** Enters the page for all snapshots that need its present image. */
    private Preserved preservedFor(int pageId, long stamp) {
        Preserved preserved = new Preserved(pageId);
        for (PageSnapshot snapshot : open) {
            if (isNeededBy(snapshot, pageId, stamp)) {
                preserved.holders++;
                snapshot.preserved.put(pageId, preserved);
            }
        }
        return preserved;
    }

    private void keepLocation(Preserved preserved, long location) {
        preserved.location = location;
        pages.log.pin(location);
    }

    boolean hasPreservedFrames() {
        return !inFrames.isEmpty();
    }

    /** Writes one preserved image to the log to free its memory; false if none is in memory. */
    boolean spillOne() {
        for (; ; ) {
            Preserved preserved = inFrames.poll();
            if (preserved == null) {
                return false;
            }
            if (preserved.holders > 0) {
                spill(preserved);
                return true;
            }
        }
    }

    private void spill(Preserved preserved) {
        long frame = preserved.frame;
        preserved.holders++; // the append may let go of the lock, and the snapshot be closed
        // meanwhile
        try {
            long location =
                    pages.log.append(
                            SegmentLog.CHAIN_STREAM, preserved.pageId, frame, Frame.bytes(frame));
            keepLocation(preserved, location);
            pages.log.release(location); // no page table entry refers to it, only the pin does
            preserved.frame = 0;
            pages.discard(frame);
        } finally {
            if (preserved.frame != 0) { // the log has failed; close frees the frame
                inFrames.add(preserved);
            }
            drop(preserved);
        }
    }

    private void drop(Preserved preserved) {
        if (--preserved.holders > 0) {
            return;
        }
        if (preserved.frame != 0) {
            pages.discard(preserved.frame);
            preserved.frame = 0;
        } else {
            pages.log.unpin(preserved.location);
        }
    }

    void close(PageSnapshot snapshot) {
        if (open.remove(snapshot)) {
            snapshot.preserved.values().forEach(this::drop);
            snapshot.preserved.clear();
            snapshot.freeBuffers();
            if (open.isEmpty()) {
                inFrames.clear();
            }
        }
    }

    List<PageSnapshot> open() {
        return List.copyOf(open);
    }

    /** When the store closes, after its log: frees what is in memory. */
    void closeAll() {
        for (Preserved preserved : inFrames) {
            if (preserved.holders > 0 && preserved.frame != 0) {
                pages.discard(preserved.frame);
            }
        }
        inFrames.clear();
        open.forEach(PageSnapshot::freeBuffers);
        open.clear();
    }
}
