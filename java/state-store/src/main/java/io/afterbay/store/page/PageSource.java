package io.afterbay.store.page;

/** Where pages are read from: the live store, or a snapshot of it. */
public interface PageSource {
    /**
     * The address of a page's bytes. A snapshot keeps one page per {@code slot} at a time (a tree
     * uses its level, a chain {@link #CHAIN_SLOT}); the live store keeps addresses until {@link
     * #moves} changes.
     */
    long address(int pageId, int slot);

    /** Changes whenever addresses handed out before may have become invalid. */
    long moves();

    /** On the live store, a {@link PageStore#safepoint}; a snapshot needs none. */
    default void passSafepoint() {}

    /** Slots of a snapshot. */
    int SLOTS = 12;

    int CHAIN_SLOT = SLOTS - 1;
}
