package io.afterbay.store.page;

import java.util.Arrays;
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
 *
 * <p>If most pages leave memory before anybody uses them, it rests for a while.
 */
public final class ReadAhead {
    /** Of the share, what is read ahead at a time. */
    private static final int SHARE_PARTS = 16;

    /** Pages after which it is told whether they are used. */
    private static final int TRIAL_PAGES = 1024;

    /** Batches that are left out if they are not. */
    private static final int REST_BATCHES = 64;

    private final PageStore pages;
    private final @Nullable Executor helpers;
    private int[] pageIds = new int[64];
    private int chains;
    private long bytes;
    private int batchesToRest;

    /** Pages that were read, and of these evicted unused. Guarded by the lock of the page store. */
    private long read;

    private long unused;

    private long readBefore;
    private long unusedBefore;

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

    /** Begins a batch; false if there is none now. */
    public boolean begin() {
        chains = 0;
        bytes = 0;
        if (batchesToRest > 0) {
            batchesToRest--;
            return false;
        }
        return isUseful();
    }

    /** Whether a chain of so many bytes, with what its pages do not use, fits any batch. */
    public boolean takes(long chainBytes) {
        return chainBytes <= pages.shareBytes() / SHARE_PARTS;
    }

    /**
     * Adds a chain to the batch; false if that is full.
     *
     * @param pageId from which page on it is read
     * @param chainBytes as in {@link #takes}
     */
    public boolean add(int pageId, long chainBytes) {
        if (isAdded(pageId)) {
            return true;
        }
        if (!takes(bytes + chainBytes)) {
            return false;
        }
        if (chains == pageIds.length) {
            pageIds = Arrays.copyOf(pageIds, chains * 2);
        }
        pageIds[chains++] = pageId;
        bytes += chainBytes;
        return true;
    }

    private boolean isAdded(int pageId) {
        for (int i = 0; i < chains; i++) {
            if (pageIds[i] == pageId) {
                return true;
            }
        }
        return false;
    }

    /**
     * Between two operations of the owner: reads the chains of the batch, as far as there is room;
     * returns how many there are. All addresses got before are invalid after.
     */
    public int read(Links links) {
        Executor executor = helpers;
        if (chains > 0 && executor != null && pages.makeRoomFor(bytes)) {
            Crew.run(chains, i -> readChain(pageIds[i], links), executor);
            judge();
        }
        return chains;
    }

    private void readChain(int first, Links links) {
        for (int pageId = first; pageId != 0; ) {
            long page = pages.addressIfRoom(pageId);
            pageId = page == 0 ? 0 : links.next(page);
        }
    }

    private void judge() {
        pages.lock.lock();
        try {
            long tried = read - readBefore;
            if (tried >= TRIAL_PAGES) {
                batchesToRest = unused - unusedBefore > tried / 2 ? REST_BATCHES : 0;
                readBefore = read;
                unusedBefore = unused;
            }
        } finally {
            pages.lock.unlock();
        }
    }

    /** A page was read. Lock held. */
    void pageRead() {
        read++;
    }

    /** A page was evicted that nobody has used since it was read. Lock held. */
    void pageUnused() {
        unused++;
    }

    /** Lock held. */
    long pagesRead() {
        return read;
    }

    /** Lock held. */
    long pagesUnused() {
        return unused;
    }
}
