package io.afterbay.store.paged;

import io.afterbay.store.page.PageStore;
import io.afterbay.store.tree.EntryKey;
import io.afterbay.store.tree.Tree;

/**
 * Tells of most keys that are not in a tree of values that they are not, without a search: a Bloom
 * filter with all bits of a key in one word (Putze, Sanders and Singler, "Cache-, hash- and
 * space-efficient Bloom filters", ACM Journal of Experimental Algorithmics 14, 2009, section 3).
 *
 * <p>It begins when the tree is empty, and small. When it is full, another one is made, larger or
 * without what was removed, from the tree: each key that comes has a few leaves read, so nobody
 * waits for that.
 *
 * <pre>
 *   the tree, by key:   |--- in the next one, too ---|--- to be read ---|
 *                                                 readTo
 * </pre>
 *
 * <p>Invariants: while it is on, it knows each key of the tree. The next one knows each key before
 * {@code readTo}, and all that have come since it was begun. It is off, and answers that any key
 * may be there, when it would take more than its part of the memory, when pages of the tree lie in
 * files only, and behind a restore; until the tree is empty again. The owner's thread only.
 */
final class AbsenceFilter {
    static final int BYTES_MIN = 1 << 10;
    static final int BYTES_MAX = 4 << 20;

    /** Of the store's share of the budget. */
    private static final int PARTS_OF_SHARE = 64;

    private static final int GROWTH = 4;
    private static final int LEAVES_PER_STEP = 2;
    private static final long END = Long.MAX_VALUE;

    private final PageStore pages;
    private final Tree tree;
    private final int bytesMin;
    private BloomWords words = BloomWords.NONE;
    private BloomWords next = BloomWords.NONE;
    private long readTo;

    /**
     * @param tree not wide
     */
    AbsenceFilter(PageStore pages, Tree tree) {
        this(pages, tree, BYTES_MIN);
    }

    /**
     * @param bytesMin a power of two; tests set it lower than {@link #BYTES_MIN}
     */
    AbsenceFilter(PageStore pages, Tree tree, int bytesMin) {
        this.pages = pages;
        this.tree = tree;
        this.bytesMin = bytesMin;
    }

    boolean isOn() {
        return words != BloomWords.NONE;
    }

    boolean isRebuilding() {
        return next != BloomWords.NONE;
    }

    /** False if the tree has no such entry for certain. */
    boolean mayHold(EntryKey key) {
        return words.mayHold(key.high());
    }

    /**
     * To be called before an entry comes into the tree, behind a safepoint: reads pages and takes
     * memory. The position in the tree is lost.
     */
    void comes(EntryKey key) {
        if (tree.size() == 0) {
            begin();
        }
        if (isOn()) {
            words.add(key.high());
            next.add(key.high());
            if (isRebuilding()) {
                readOn();
            } else if (words.isFull()) {
                beginNext();
            }
        }
    }

    private void begin() {
        if (!words.isFresh()) {
            end();
            words = take(bytesMin);
        }
    }

    private void beginNext() {
        int bytes = words.bytes();
        next = take(tree.size() * 2 <= bytes ? bytes : bytes * (long) GROWTH);
        readTo = 0;
        if (!isRebuilding()) {
            end();
        }
    }

    private BloomWords take(long bytes) {
        long bytesMax = Math.min(BYTES_MAX, pages.shareBytes() / PARTS_OF_SHARE);
        long address = bytes > bytesMax ? 0 : pages.reserves().take(bytes);
        return address == 0 ? BloomWords.NONE : new BloomWords(address, (int) bytes);
    }

    private void readOn() {
        long faults = pages.pageFaults();
        for (int i = 0; i < LEAVES_PER_STEP && readTo != END; i++) {
            readTo = tree.readLeaf(readTo, next::add, END);
        }
        if (pages.pageFaults() != faults) {
            end();
        } else if (readTo == END) {
            free(words);
            words = next;
            next = BloomWords.NONE;
        }
    }

    /** Gives its memory back if the store's share has become too small for it. */
    void giveBack() {
        if (isOn() && !pages.reserves().isSmall(words.bytes() + next.bytes())) {
            end();
        }
    }

    /** Is off from now on, until the tree is empty. */
    void end() {
        free(words);
        free(next);
        words = BloomWords.NONE;
        next = BloomWords.NONE;
    }

    private void free(BloomWords freed) {
        if (freed != BloomWords.NONE) {
            pages.reserves().giveBack(freed.address(), freed.bytes());
        }
    }
}
