package io.afterbay.store.tree;

import io.afterbay.store.Slice;
import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageSource;

/** One pass over the bytes of a chain as it was when the reader was made. */
public final class ChainReader {
    private final PageSource pages;
    private int pageId;
    private int position;
    private long left;

    public ChainReader(PageSource pages, int head, long bytes) {
        this.pages = pages;
        pageId = head;
        left = bytes;
    }

    /** Bytes not read yet. */
    public long left() {
        return left;
    }

    /** The page that is being read. */
    public int pageId() {
        return pageId;
    }

    /** The next byte; there must be one. */
    public int readByte() {
        long page = page();
        left--;
        return Memory.getByte(page + Chains.HEADER_BYTES + position++);
    }

    public int readVarInt() {
        int value = 0;
        for (int shift = 0; ; shift += 7) {
            int b = readByte();
            value |= (b & 0x7f) << shift;
            if (b >= 0) {
                return value;
            }
        }
    }

    public void read(Slice into, int length) {
        read(into.reset(length), 0, length);
    }

    public void read(byte[] target, int offset, int length) {
        int at = offset;
        int end = offset + length;
        while (at < end) {
            long page = page();
            int bytes = Math.min(end - at, Chains.used(page) - position);
            Memory.read(page + Chains.HEADER_BYTES + position, target, at, bytes);
            position += bytes;
            left -= bytes;
            at += bytes;
        }
    }

    public void skip(long length) {
        long remaining = length;
        while (remaining > 0) {
            int bytes = (int) Math.min(remaining, Chains.used(page()) - position);
            position += bytes;
            left -= bytes;
            remaining -= bytes;
        }
    }

    /** The page with the next byte. */
    private long page() {
        if (left <= 0) {
            throw new IllegalStateException("read beyond the end of a chain");
        }
        long page = pages.address(pageId, PageSource.CHAIN_SLOT);
        while (position == Chains.used(page)) {
            pageId = Chains.next(page);
            position = 0;
            pages.passSafepoint();
            page = pages.address(pageId, PageSource.CHAIN_SLOT);
        }
        return page;
    }
}
