package io.afterbay.store.page;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
        if (open.isEmpty()) {
            return;
        }
        Preserved preserved = preservedFor(pageId, Frame.stamp(frame));
        if (preserved == null) {
            return;
        }
        if (Frame.disk(frame) != 0) {
            keepLocation(preserved, Frame.disk(frame));
        } else {
            int bytes = Frame.bytes(frame);
            pages.charge(Frame.cost(bytes));
            long copy = Frame.allocate(pageId, bytes, Frame.stream(frame));
            Memory.copy(frame, copy, bytes);
            keepFrame(preserved, copy);
        }
    }

    /** Before a page in memory is freed: true if a snapshot has taken the frame over. */
    boolean preserveByGiving(int pageId, long frame) {
        Preserved preserved = open.isEmpty() ? null : preservedFor(pageId, Frame.stamp(frame));
        if (preserved == null) {
            return false;
        }
        if (Frame.disk(frame) != 0) {
            keepLocation(preserved, Frame.disk(frame));
            return false;
        }
        keepFrame(preserved, frame);
        return true;
    }

    /** Before a page on disk is freed. */
    void preserveLocation(int pageId, long location) {
        Preserved preserved = open.isEmpty() ? null : preservedFor(pageId, 0);
        if (preserved != null) {
            keepLocation(preserved, location);
        }
    }

    /** Enters the page for all snapshots that need its present image; null if none does. */
    private @Nullable Preserved preservedFor(int pageId, long stamp) {
        Preserved preserved = null;
        for (PageSnapshot snapshot : open) {
            if (stamp <= snapshot.epoch && !snapshot.preserved.containsKey(pageId)) {
                if (preserved == null) {
                    preserved = new Preserved(pageId);
                }
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

    private void keepFrame(Preserved preserved, long frame) {
        preserved.frame = frame;
        inFrames.add(preserved);
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
