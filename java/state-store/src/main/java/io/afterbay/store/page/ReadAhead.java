package io.afterbay.store.page;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Brings chains of pages that will be read soon to memory, several at a time: each page of a chain
 * names the next, so that one chain alone is one read after the other. FlowKV (section 4.2) reads
 * the lists that fire next together, too, for another reason: its elements lie in a log, all of
 * which it reads for them.
 *
 * <p>For the owner, which takes part, and waits for its helpers: meanwhile they may do what only it
 * may do otherwise, make pages resident, under the lock of the page store.
 */
public final class ReadAhead {
    /** Of the share, what is read ahead at a time. */
    private static final int SHARE_PARTS = 16;

    private final PageStore pages;
    private final @Nullable Executor helpers;

    /** How a page that is in memory names the next one of its chain. */
    public interface Links {
        /** Its id; 0 at the end. */
        int next(long address);
    }

    ReadAhead(PageStore pages, @Nullable Executor helpers) {
        this.pages = pages;
        this.helpers = helpers;
    }

    /**
     * Whether there are helpers, and pages that may be on the disk. What is still on its way from
     * checkpoint storage is not waited for.
     */
    public boolean isUseful() {
        return helpers != null && pages.log.liveBytes() > 0 && !pages.isArriving();
    }

    /** What may be read at a time, including the unused parts of pages. */
    public long bytesMax() {
        return pages.shareBytes() / SHARE_PARTS;
    }

    /**
     * Between two operations of the owner: reads chains, as far as there is room. All addresses got
     * before are invalid after.
     *
     * @param pageIds from which page on each chain is read
     * @param bytes of the chains, at most {@link #bytesMax}
     */
    public void read(int[] pageIds, long bytes, Links links) {
        Executor executor = helpers;
        if (executor != null && pages.makeRoomFor(bytes)) {
            Crew.run(pageIds.length, i -> readChain(pageIds[i], links), executor);
        }
    }

    private void readChain(int first, Links links) {
        for (int pageId = first; pageId != 0; ) {
            long page = pages.addressIfRoom(pageId);
            pageId = page == 0 ? 0 : links.next(page);
        }
    }
}
