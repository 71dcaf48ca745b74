package io.afterbay.store.page;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreOwner;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The memory of a page store: makes room in the part of the budget that the store has, by evicting
 * pages, by taking what is left of the budget, or by waiting for other stores to give theirs back.
 *
 * <pre>
 *   budget:  | store A      | store B    | C | left |
 *                 \______________________ granted; above its share only while nobody else needs it
 *   granted: | pages, page table, what was reserved | headroom |
 * </pre>
 *
 * <p>Each operation of the owner begins with so much <i>headroom</i> that it can run to its end. A
 * store that finds none and has nothing to evict raises the budget's pressure; the others then
 * shrink to their shares at their next safepoint, or when their owners read their mail. All methods
 * need the store's lock, but for those that say otherwise.
 */
final class PageMemory {
    private static final int HEADROOM_BYTES = 160 << 10;
    private static final int EVICTION_BATCH_BYTES = 64 << 10;
    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private final PageStore pages;
    private final StoreOptions options;
    private final MemoryBudget budget;
    private final Allowance allowance;
    private final Residents residents = new Residents();
    private final Runnable shrinkRequest = this::requestShrink;
    private final AtomicBoolean shrinkRequested = new AtomicBoolean();
    private final Thread opener = Thread.currentThread();
    private Runnable shrinkListener = () -> {};
    private int seenPressure;

    /** {@link #headroom()} as of the last time that room was made. */
    private long headroomBytes = HEADROOM_BYTES;

    /** An operation of this store asks the others for memory. */
    private boolean isWaiting;

    /** Put by for when evicting does not make room. */
    private long spareBytes;

    /**
     * Stays granted, however small the share: the spare is used up operation by operation, and
     * would else go to the next store that asks. Zero until it is needed, and when it was dropped.
     */
    private long keptBytes;

    private long pagesEvicted;
    private long imagesSpilled;

    /** Joins the stores of the budget. */
    PageMemory(PageStore pages, StoreOptions options) {
        this.pages = pages;
        this.options = options;
        budget = options.budget();
        budget.join(shrinkRequest);
        if (budget.shareBytes() < PageStore.MIN_SHARE_BYTES) {
            String message = belowMinimum();
            budget.leave(shrinkRequest);
            throw new StateStoreException(message);
        }
        allowance = new Allowance(budget);
        seenPressure = budget.pressure();
    }

    private String belowMinimum() {
        return options.name()
                + ": a memory budget of "
                + budget.totalBytes()
                + " bytes for "
                + budget.shares()
                + " stores leaves "
                + budget.shareBytes()
                + " bytes for each; the least is "
                + PageStore.MIN_SHARE_BYTES
                + ". Give the state backend more memory, or run fewer stateful operators in a slot";
    }

    // ---------------------------------------------------------------- what is in use

    long usedBytes() {
        return allowance.used();
    }

    /** Uses so much, granted or not: there is room for it, or the next safepoint makes it. */
    void use(long bytes) {
        allowance.use(bytes);
    }

    /** Accounts for memory of the owner, which cannot go on in mid-operation without. */
    void charge(long bytes) {
        if (!allowance.tryUse(bytes)) {
            throw pages.log.fail(outOfMemory());
        }
    }

    /** Accounts for memory of a snapshot's reader. */
    void chargeReader(long bytes) {
        if (!allowance.tryUse(bytes)) {
            throw outOfMemory();
        }
    }

    private StateStoreException outOfMemory() {
        return new StateStoreException(
                options.name()
                        + ": one operation needs more memory than the budget of "
                        + budget.totalBytes()
                        + " bytes has left; give the state backend more memory");
    }

    void refund(long bytes) {
        allowance.refund(bytes);
    }

    /** Whether so much is granted beside the headroom. */
    boolean hasRoom(long bytes) {
        return allowance.hasRoom(bytes + headroomBytes);
    }

    // ---------------------------------------------------------------- pages in memory

    void add(int pageId, long frame) {
        residents.add(pageId, frame, pages.table);
    }

    void remove(long frame) {
        residents.remove(frame, pages.table);
    }

    long pagesEvicted() {
        return pagesEvicted;
    }

    /** Pages, and images of pages that were preserved for snapshots. */
    long evictions() {
        return pagesEvicted + imagesSpilled;
    }

    /** Evicts about that many bytes; false if nothing was there to evict. */
    private boolean evict(int bytes) {
        if (residents.count() == 0 && !pages.snapshots.hasPreservedFrames()) {
            return false;
        }
        allocateBuffers();
        pages.compactor.helpIfDue();
        long target = allowance.used() - bytes;
        while (allowance.used() > target && pages.snapshots.spillOne()) {
            imagesSpilled++;
        }
        while (allowance.used() > target && residents.count() > 0) {
            evictPage(residents.victim(pages.table));
        }
        return true;
    }

    private void evictPage(long frame) {
        int pageId = Frame.pageId(frame);
        if (Frame.disk(frame) == 0) {
            write(pageId, frame);
        }
        if (Frame.isReadAhead(frame)) {
            pages.readAhead().pageUnused();
        }
        pages.table.set(pageId, Frame.disk(frame));
        remove(frame);
        pages.discard(frame);
        pagesEvicted++;
    }

    private void write(int pageId, long frame) {
        long location = pages.log.append(Frame.stream(frame), pageId, frame, Frame.bytes(frame));
        if (Frame.disk(frame) == 0) {
            Frame.setDisk(frame, location);
        } else {
            pages.log.release(location); // an image has written the page while the append waited
        }
    }

    private void allocateBuffers() {
        if (pages.log.bufferBytes() == 0) {
            int bytes = plannedBufferBytes();
            allowance.use(SegmentLog.BUFFERS * (long) bytes); // part of the headroom until now
            pages.log.allocateBuffers(bytes);
        }
    }

    private int plannedBufferBytes() {
        return (int) Math.max(36 << 10, Math.min(256 << 10, budget.shareBytes() / 32));
    }

    // ---------------------------------------------------------------- room for operations

    /** Whether {@link #makeRoom} has something to do. The owner may ask without the lock. */
    boolean isShort() {
        return !allowance.hasRoom(headroomBytes) || budget.pressure() != seenPressure;
    }

    /** Makes room for an operation of the owner, at a safepoint. */
    void makeRoom() {
        int pressure = budget.pressure();
        if (pressure != seenPressure) {
            seenPressure = pressure;
            shrinkToShare();
        }
        long deadline = 0;
        while (!tryMakeRoom(0)) {
            if (spareBytes > 0) {
                useSpare();
                continue;
            }
            deadline = deadline == 0 ? System.nanoTime() + PATIENCE_NANOS : deadline;
            awaitMemory(deadline);
        }
        if (pages.log.totalBytes() > 0) {
            allocateBuffers(); // compaction needs them, also if nothing was evicted yet
        }
        headroomBytes = headroom();
    }

    /** Makes room for so many bytes beside the headroom; false if evicting is not enough. */
    boolean tryMakeRoom(long bytes) {
        while (!allowance.hasRoom(bytes + headroom())) {
            if (!allowance.grow(bytes + headroom()) && !evict(EVICTION_BATCH_BYTES)) {
                return false;
            }
        }
        return true;
    }

    /** See {@link Reserves#keepSpare}. */
    boolean keepSpare(long bytes) {
        if (!tryMakeRoom(bytes)) {
            return false;
        }
        allowance.use(bytes);
        spareBytes += bytes;
        return true;
    }

    private void useSpare() {
        keptBytes = allowance.granted();
        allowance.refund(spareBytes);
        spareBytes = 0;
    }

    void dropSpare() {
        keptBytes = 0;
        allowance.refund(spareBytes);
        spareBytes = 0;
    }

    private long headroom() {
        boolean hasBuffers = pages.log.bufferBytes() > 0;
        return HEADROOM_BYTES
                + (hasBuffers ? 0 : SegmentLog.BUFFERS * (long) plannedBufferBytes())
                + pages.snapshots.reserveBytes();
    }

    private void awaitMemory(long deadline) {
        if (System.nanoTime() - deadline > 0) {
            throw new StateStoreException(
                    belowMinimum()
                            + " (waited 30 s for the other stores of this budget to shrink)");
        }
        isWaiting = true;
        try {
            budget.raisePressure(shrinkRequest);
        } finally {
            isWaiting = false;
        }
        seenPressure = budget.pressure();
        pages.log.awaitChange(5_000_000L);
    }

    // ---------------------------------------------------------------- room for other stores

    /** See {@link Reserves#onShrink}. */
    void onShrink(Runnable giveBack) {
        shrinkListener = giveBack;
    }

    private void shrinkToShare() {
        long share = Math.max(budget.shareBytes(), keptBytes);
        while (allowance.granted() > share
                && allowance.used() + headroom() > share
                && evict(EVICTION_BATCH_BYTES)) {
            pages.log.check();
        }
        allowance.shrinkTo(Math.max(share, allowance.used() + headroom()));
    }

    /**
     * Another store of the budget is short of memory; called by its owner, without the lock. One
     * who has not read the last request may be waiting for the caller.
     */
    private void requestShrink() {
        StoreOwner owner = options.owner();
        boolean canRead = Thread.currentThread() != opener;
        if (canRead && shrinkRequested.compareAndSet(false, true)) {
            try {
                owner.execute(this::shrinkWhenIdle);
            } catch (RejectedExecutionException e) {
                shrinkRequested.set(false); // the owner has ended
            }
        } else {
            owner.tryRun(opener, this::shrinkAtOnce);
        }
    }

    /**
     * For another store of the same task, whose operation asks: mail would wait for that. This
     * store is between two operations, or in one that asked first, at a safepoint.
     */
    private void shrinkAtOnce() {
        if (pages.isClosed() || pages.hasFailed()) {
            return;
        }
        if (!isWaiting) {
            shrinkListener.run();
        }
        pages.lock.lock();
        try {
            shrinkToShare();
        } finally {
            pages.lock.unlock();
        }
    }

    private void shrinkWhenIdle() {
        shrinkRequested.set(false);
        if (!pages.isClosed()) {
            shrinkListener.run();
            pages.safepoint();
        }
    }

    // ---------------------------------------------------------------- the end

    /** Leaves the budget. */
    void leave() {
        budget.leave(shrinkRequest);
    }

    /** Frees all pages and leaves the budget. */
    void end() {
        residents.forEach(pages.table, Frame::free);
        residents.clear();
        allowance.end();
        leave();
    }
}
