package io.afterbay.store.page;

import io.afterbay.store.StoreSnapshot.Places;
import io.afterbay.store.page.Snapshots.Preserved;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * All pages as they were at one moment. Read by one thread, any; each page is copied into a buffer
 * of its slot, so that the owner is never kept out for longer than a copy takes.
 */
public final class PageSnapshot implements PageSource, AutoCloseable {
    private static final int TREE_BUFFER_BYTES = 4 << 10;

    /** Four tree levels and a chain. */
    static final int RESERVE_BYTES = 4 * TREE_BUFFER_BYTES + PageSize.LARGEST_BYTES;

    final PageStore pages;
    final long epoch;

    /** The pages there were, a bit for each id. */
    final BitSet inUse;

    final Map<Integer, Preserved> preserved = new HashMap<>();

    /** Guarded by the lock, as is what has passed. */
    private boolean isUsedUp;

    /** Pages up to this one are in an image, and nothing is preserved of them any more. */
    private int passedUpTo;

    /** So are these, a bit for each. */
    private final BitSet passed = new BitSet();

    private final long[] buffers = new long[SLOTS];
    private final int[] capacities = new int[SLOTS];
    private final int[] cached = new int[SLOTS];
    private final int[] sizes = new int[SLOTS];
    private boolean closed;

    /**
     * Held by the reader from asking for an address to its last use, so that nobody closes the
     * snapshot under its hands. Taken before the store's lock.
     */
    public final ReentrantLock reading = new ReentrantLock();

    PageSnapshot(PageStore pages, long epoch) {
        this.pages = pages;
        this.epoch = epoch;
        this.inUse = BitSet.valueOf(pages.table.inUse());
    }

    /**
     * Page contents never change, but a slot's buffer is overwritten: a cursor keeps slots apart.
     */
    @Override
    public long moves() {
        return 0;
    }

    @Override
    public long address(int pageId, int slot) {
        checkOpen();
        if (cached[slot] == pageId) {
            return buffers[slot];
        }
        long location = copyOrPin(pageId, slot);
        if (location != 0) {
            readPinned(location, pageId, slot);
        }
        cached[slot] = pageId;
        return buffers[slot];
    }

    /** Tells where a page lies on disk, unless it is in memory; whether more is of interest. */
    public boolean tellPlace(int pageId, Places to) {
        pages.lock.lock();
        long entry;
        try {
            entry = entry(pageId);
        } finally {
            pages.lock.unlock();
        }
        return Location.isResident(entry)
                || to.place(Location.segment(entry), Location.offset(entry));
    }

    /** Size of the page that was asked for last in a slot. */
    int bytes(int slot) {
        return sizes[slot];
    }

    /** Copies a page that is in memory and returns 0, or pins its location and returns that. */
    private long copyOrPin(int pageId, int slot) {
        pages.lock.lock();
        try {
            if (hasPassed(pageId)) {
                throw usedUp();
            }
            long entry = entry(pageId);
            if (Location.isResident(entry)) {
                int bytes = Frame.bytes(entry);
                reserve(slot, bytes);
                Memory.copy(entry, buffers[slot], bytes);
                return 0;
            }
            reserve(slot, Location.pageBytes(entry));
            pages.log.pin(entry);
            return entry;
        } finally {
            pages.lock.unlock();
        }
    }

    /** Address or location of a page. Lock held. */
    long entry(int pageId) {
        Preserved image = preserved.get(pageId);
        if (image == null) {
            return pages.table.get(pageId);
        }
        return image.frame != 0 ? image.frame : image.location;
    }

    private void readPinned(long location, int pageId, int slot) {
        try {
            pages.log.read(location, pageId, buffers[slot]);
        } finally {
            pages.lock.lock();
            try {
                pages.log.unpin(location);
            } finally {
                pages.lock.unlock();
            }
        }
    }

    private void reserve(int slot, int bytes) {
        cached[slot] = 0;
        sizes[slot] = bytes;
        if (capacities[slot] < bytes) {
            freeBuffer(slot);
            int capacity =
                    slot == CHAIN_SLOT
                            ? PageSize.LARGEST_BYTES
                            : Math.max(bytes, TREE_BUFFER_BYTES);
            pages.chargeReader(capacity);
            buffers[slot] = Memory.allocate(capacity);
            capacities[slot] = capacity;
        }
    }

    void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the snapshot, or its store, is closed");
        }
    }

    /** From now on an image reads the pages, each once. Lock held. */
    void useUp() {
        if (isUsedUp) {
            throw usedUp();
        }
        isUsedUp = true;
    }

    private static IllegalStateException usedUp() {
        return new IllegalStateException("the snapshot has been used up for an image");
    }

    /** A page is in the image. Lock held. */
    void pass(int pageId) {
        passed.set(pageId);
    }

    /** Pages up to this one are in the image. Lock held. */
    void passUpTo(int pageId) {
        passedUpTo = pageId;
    }

    void passAll() {
        pages.lock.lock();
        passedUpTo = Integer.MAX_VALUE;
        pages.lock.unlock();
    }

    /** Lock held. */
    boolean hasPassed(int pageId) {
        return pageId <= passedUpTo || passed.get(pageId);
    }

    private void freeBuffer(int slot) {
        if (capacities[slot] > 0) {
            Memory.free(buffers[slot], capacities[slot]);
            pages.refund(capacities[slot]);
            capacities[slot] = 0;
        }
    }

    void freeBuffers() {
        Arrays.fill(cached, 0);
        for (int slot = 0; slot < SLOTS; slot++) {
            freeBuffer(slot);
        }
    }

    /** Waits for a running read; later ones throw. */
    void endReading() {
        reading.lock();
        closed = true;
        reading.unlock();
    }

    @Override
    public void close() {
        endReading();
        pages.lock.lock();
        try {
            if (!pages.isClosed()) { // else the closing store frees everything, files first
                pages.snapshots.close(this);
            }
        } finally {
            pages.lock.unlock();
        }
    }
}
