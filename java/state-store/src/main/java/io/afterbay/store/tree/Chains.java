package io.afterbay.store.tree;

import static io.afterbay.store.page.Memory.getInt;
import static io.afterbay.store.page.Memory.putInt;

import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageSize;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.page.ReadAhead;

/**
 * Bytes in linked pages: long values, long keys, lists and append logs. What a chain holds never
 * changes, it only grows at its end or is freed as a whole; so a reader that knows how many bytes
 * there were is not disturbed.
 *
 * <pre>
 *   0      4      8
 *   +------+------+-----------------
 *   | next | used | payload ...
 *   +------+------+-----------------
 * </pre>
 */
public final class Chains {
    static final int HEADER_BYTES = 8;

    /** About that part of full pages is not used. */
    private static final int UNUSED_PARTS = 4;

    /** What one step between two safepoints may write. */
    private static final int STEP_BYTES = PageSize.LARGEST_BYTES;

    private final PageStore pages;

    public Chains(PageStore pages) {
        this.pages = pages;
    }

    static int next(long page) {
        return getInt(page);
    }

    static int used(long page) {
        return getInt(page + 4);
    }

    /** Whether an append of that many bytes needs no safepoint. */
    public static boolean isShort(int length) {
        return length <= STEP_BYTES / 2;
    }

    /**
     * Appends bytes. An append that is not {@link #isShort} passes safepoints, so that the caller
     * holds no address across it.
     */
    public void append(ChainRef chain, byte[] source, int offset, int length) {
        append(chain, source, offset, length, PageSize.LARGEST_BYTES);
    }

    /**
     * As {@link #append(ChainRef, byte[], int, int)}.
     *
     * @param growthBytes the chain grows by pages of at most that size, unless what is appended
     *     needs larger ones
     */
    public void append(ChainRef chain, byte[] source, int offset, int length, int growthBytes) {
        boolean small = isShort(length);
        int at = offset;
        int left = length;
        while (left > 0) {
            if (!small) {
                pages.safepoint();
            }
            int written = appendToTail(chain, source, at, left, growthBytes);
            at += written;
            left -= written;
        }
        chain.bytes += length;
    }

    private int appendToTail(
            ChainRef chain, byte[] source, int offset, int length, int growthBytes) {
        if (chain.tail == 0) {
            addPage(chain, length);
        }
        long page = pages.modify(chain.tail);
        int used = used(page);
        int room = PageStore.pageBytes(page) - HEADER_BYTES - used;
        if (room == 0) {
            long grown = Math.min(chain.bytes, growthBytes - HEADER_BYTES);
            addPage(chain, Math.max(length, grown));
            return 0;
        }
        int written = Math.min(room, length);
        Memory.write(source, offset, page + HEADER_BYTES + used, written);
        putInt(page + 4, used + written);
        return written;
    }

    /**
     * Pages grow with the chain, so that at most half of it is unused. A full page is needed again
     * only when the chain is read or freed.
     */
    private void addPage(ChainRef chain, long payloadBytes) {
        int pageBytes = PageSize.fitting(payloadBytes + HEADER_BYTES);
        int pageId;
        if (chain.tail == 0) {
            pageId = pages.allocate(pageBytes, PageStore.CHAIN_STREAM, chain.keyGroup);
            chain.head = pageId;
        } else {
            pageId = pages.allocateBeside(chain.tail, pageBytes, PageStore.CHAIN_STREAM);
            putInt(pages.modify(chain.tail), pageId);
            pages.evictSoon(chain.tail);
        }
        chain.tail = pageId;
    }

    /**
     * Hangs {@code other} behind {@code chain} without touching its data; {@code other} is used up.
     */
    public void link(ChainRef chain, ChainRef other) {
        putInt(pages.modify(chain.tail), other.head);
        chain.tail = other.tail;
        chain.bytes += other.bytes;
        chain.elements += other.elements;
        chain.elementBytes += other.elementBytes;
    }

    /**
     * Overwrites a chain of a single page that has room for {@code length} bytes; false if it has
     * not.
     */
    boolean overwrite(ChainRef chain, byte[] source, int offset, int length) {
        if (chain.head != chain.tail) {
            return false;
        }
        long page = pages.modify(chain.head);
        int capacity = PageStore.pageBytes(page) - HEADER_BYTES;
        if (length > capacity || PageSize.fitting(length + HEADER_BYTES) < capacity / 2) {
            return false;
        }
        Memory.write(source, offset, page + HEADER_BYTES, length);
        putInt(page + 4, length);
        chain.bytes = length;
        return true;
    }

    /** Begins a batch of chains that are read ahead; false if there is none now. */
    public boolean beginReadAhead() {
        return pages.readAhead().begin();
    }

    /**
     * Adds what is on disk of a chain to the batch; false if that is full. A chain that is too long
     * for any batch is left out.
     */
    public boolean addToReadAhead(ChainRef chain) {
        long bytes = chain.bytes + chain.bytes / UNUSED_PARTS + PageSize.SMALLEST_BYTES;
        int pageId = pages.readAhead().takes(bytes) ? firstOnDisk(chain) : 0;
        return pageId == 0 || pages.readAhead().add(pageId, bytes);
    }

    private int firstOnDisk(ChainRef chain) {
        int pageId = chain.head;
        while (pageId != 0 && pages.isResident(pageId)) {
            pageId = next(pages.address(pageId));
        }
        return pageId;
    }

    /** See {@link ReadAhead#read}. */
    public int readAhead() {
        return pages.readAhead().read(Chains::next);
    }

    /** Copies what is in a chain, less than 2 GB, and frees it; passes safepoints. */
    public void drain(ChainRef chain, byte[] target) {
        int at = 0;
        for (int pageId = chain.head; pageId != 0; ) {
            pages.safepoint();
            long page = pages.address(pageId);
            Memory.read(page + HEADER_BYTES, target, at, used(page));
            at += used(page);
            pageId = freeFirst(pageId);
        }
    }

    /** Frees all pages; passes safepoints. */
    public void free(int head) {
        int pageId = head;
        while (pageId != 0) {
            pages.safepoint();
            pageId = freeFirst(pageId);
        }
    }

    /** Frees one page and returns the id of the next, 0 at the end. */
    public int freeFirst(int pageId) {
        int next = next(pages.address(pageId));
        pages.free(pageId);
        return next;
    }
}
