package io.afterbay.store.paged;

import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.Varint;

/** A short list: its elements, each with its length before it (varint), in an array of its own. */
record InlineListReader(byte[] framed, long size, long bytes) implements ListReader {
    static InlineListReader of(byte[] framed) {
        long size = 0;
        long bytes = 0;
        for (int at = 0; at < framed.length; size++) {
            int length = Varint.read(framed, at);
            at += Varint.bytes(length) + length;
            bytes += length;
        }
        return new InlineListReader(framed, size, bytes);
    }

    @Override
    public Elements elements() {
        return new Elements() {
            private int at;

            @Override
            public boolean next(Slice into) {
                if (at == framed.length) {
                    return false;
                }
                int length = Varint.read(framed, at);
                at += Varint.bytes(length);
                into.set(framed, at, length);
                at += length;
                return true;
            }
        };
    }
}
