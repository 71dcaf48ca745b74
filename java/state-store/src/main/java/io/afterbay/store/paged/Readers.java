package io.afterbay.store.paged;

import io.afterbay.store.page.PageStore;
import io.afterbay.store.tree.ChainRef;
import io.afterbay.store.tree.Chains;
import java.util.Arrays;

/**
 * Keeps what {@link io.afterbay.store.ListReader}s were handed out for: while there are any, chains
 * that the owner removes are freed only when the readers are released.
 */
final class Readers {
    /** What {@link #handOut} never returns. */
    static final long NEVER = -1;

    private final PageStore pages;
    private final Chains chains;
    private long generation;
    private boolean anyHandedOut;
    private int[] retired = new int[8];
    private int retiredCount;

    Readers(PageStore pages, Chains chains) {
        this.pages = pages;
        this.chains = chains;
    }

    ChainListReader open(ChainRef chain) {
        return new LiveReader(chain, handOut());
    }

    /** Says that a reader is handed out; returns what {@link #check} asks for. */
    long handOut() {
        anyHandedOut = true;
        return generation;
    }

    /** Whether readers of that time may still be in use. */
    boolean isHandedOut(long madeIn) {
        return madeIn == generation;
    }

    /** Throws if readers of that time were released. */
    void check(long madeIn) {
        if (madeIn != generation) {
            throw new IllegalStateException(
                    "this list was read for another key: read lists anew for each key, or copy"
                            + " what is needed later");
        }
    }

    /** Frees a chain, at once if nobody may be reading it; passes safepoints. */
    void free(int head) {
        if (!anyHandedOut) {
            chains.free(head);
            return;
        }
        if (retiredCount == retired.length) {
            retired = Arrays.copyOf(retired, retiredCount * 2);
        }
        retired[retiredCount++] = head;
    }

    void release() {
        if (!anyHandedOut) {
            return;
        }
        anyHandedOut = false;
        generation++;
        while (retiredCount > 0) {
            chains.free(retired[--retiredCount]);
        }
    }

    private final class LiveReader extends ChainListReader {
        private final long madeIn;

        LiveReader(ChainRef chain, long generation) {
            super(pages, chain);
            madeIn = generation;
        }

        @Override
        void checkUsable() {
            check(madeIn);
            pages.safepoint();
        }
    }
}
