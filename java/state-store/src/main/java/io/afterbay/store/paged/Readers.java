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
        anyHandedOut = true;
        return new LiveReader(chain, generation);
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
            if (madeIn != generation) {
                throw new IllegalStateException(
                        "this list was read for another key: read lists anew for each key, or copy"
                                + " what is needed later");
            }
            pages.safepoint();
        }
    }
}
