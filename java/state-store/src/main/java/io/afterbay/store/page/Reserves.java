package io.afterbay.store.page;

import io.afterbay.store.MemoryBudget;

/**
 * Memory that the owner of a {@link PageStore} has beside the pages, which counts as the store's.
 * For the owner between two operations; all addresses of pages got before are invalid after.
 */
public final class Reserves {
    /** What is taken for one use is at most this part of the share. */
    private static final int PART_OF_SHARE = 8;

    private final PageStore pages;
    private final PageMemory memory;
    private final MemoryBudget budget;

    Reserves(PageStore pages, PageMemory memory, MemoryBudget budget) {
        this.pages = pages;
        this.memory = memory;
        this.budget = budget;
    }

    /**
     * The address of memory, uninitialised, which is the owner's until {@link #giveBack}; 0 if it
     * is more than an eighth of the share, or if evicting pages cannot make the room.
     */
    public long take(long bytes) {
        return take(bytes, PART_OF_SHARE);
    }

    /**
     * As {@link #take(long)}.
     *
     * @param partOfShare 0 if it is more than the share divided by this
     */
    public long take(long bytes, int partOfShare) {
        pages.lock.lock();
        try {
            check();
            if (bytes > budget.shareBytes() / partOfShare || !memory.tryMakeRoom(bytes)) {
                return 0;
            }
            memory.use(bytes);
            return Memory.allocate(bytes);
        } finally {
            pages.lock.unlock();
        }
    }

    /** Frees what {@link #take} gave, with the same size. */
    public void giveBack(long address, long bytes) {
        pages.lock.lock();
        try {
            Memory.free(address, bytes);
            memory.refund(bytes);
        } finally {
            pages.lock.unlock();
        }
    }

    /**
     * Puts memory by, which the first operation uses that finds no room in the store's share; false
     * if there is none. So a store whose share has become smaller than what was taken can go on,
     * until that is given back. See {@link #dropSpare}.
     */
    public boolean keepSpare(long bytes) {
        pages.lock.lock();
        try {
            check();
            return memory.keepSpare(bytes);
        } finally {
            pages.lock.unlock();
        }
    }

    /** Gives back what is left of that, if anything is. */
    public void dropSpare() {
        pages.lock.lock();
        try {
            memory.dropSpare();
        } finally {
            pages.lock.unlock();
        }
    }

    private void check() {
        pages.checkOpen();
        pages.log.check();
    }

    /** Whether so much leaves the pages enough of the share as it is now. */
    public boolean isSmall(long bytes) {
        return bytes <= budget.shareBytes() / PART_OF_SHARE;
    }

    /** Changes when shares have become smaller and somebody needs his. */
    public int pressure() {
        return budget.pressure();
    }

    /**
     * What the owner does when another store is short of memory: it gives back what it has taken
     * and what is not small any more.
     */
    public void onShrink(Runnable giveBack) {
        memory.onShrink(giveBack);
    }
}
