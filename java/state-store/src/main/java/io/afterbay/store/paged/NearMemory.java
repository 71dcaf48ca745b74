package io.afterbay.store.paged;

import io.afterbay.store.page.PageStore;

/**
 * The memory of a schedule's near triggers: a small part of the store's share, taken when it is
 * first needed, and given back when the share has become too small for it.
 */
final class NearMemory {
    private static final long BYTES_MAX = 8 << 20;
    private static final int PARTS_OF_BUDGET = 64;
    private static final int PARTS_OF_SHARE = 16;

    /** After pages could not make room, so many calls pass before the next try. */
    private static final int PATIENCE_CALLS = 1024;

    private final PageStore pages;
    private final long bytesMax;
    private long address;
    private long bytes;
    private int waitCalls;
    private int seenPressure;
    private boolean ended;

    /**
     * @param bytesMax tests set it lower than {@link #BYTES_MAX}
     */
    NearMemory(PageStore pages, long bytesMax) {
        this.pages = pages;
        this.bytesMax = bytesMax;
    }

    NearMemory(PageStore pages) {
        this(pages, BYTES_MAX);
    }

    /** Passes a safepoint; false if there is no memory for it at present. */
    boolean take() {
        if (address != 0) {
            return true;
        }
        if (ended || waitCalls-- > 0) {
            return false;
        }
        bytes = plannedBytes();
        address = pages.reserves().take(bytes);
        waitCalls = PATIENCE_CALLS;
        seenPressure = pages.reserves().pressure();
        return address != 0;
    }

    private long plannedBytes() {
        long planned =
                Math.min(
                        pages.budgetBytes() / PARTS_OF_BUDGET, pages.shareBytes() / PARTS_OF_SHARE);
        return Math.min(planned, bytesMax) & -8;
    }

    long address() {
        return address;
    }

    long bytes() {
        return bytes;
    }

    /** Whether the share has become too small for it. Cheap while nobody is short of memory. */
    boolean isTooLarge() {
        if (address == 0 || pages.reserves().pressure() == seenPressure) {
            return false;
        }
        seenPressure = pages.reserves().pressure();
        return !pages.reserves().isSmall(bytes);
    }

    void giveBack() {
        if (address != 0) {
            pages.reserves().giveBack(address, bytes);
            address = 0;
            waitCalls = 0;
        }
    }

    /** Gives back, and takes no more. */
    void end() {
        giveBack();
        ended = true;
    }
}
