package io.afterbay.store.paged;

import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.tree.ChainReader;
import io.afterbay.store.tree.ChainRef;

/** A list in a chain, read page by page. */
class ChainListReader implements ListReader {
    private final PageSource source;
    private final ChainRef chain;

    ChainListReader(PageSource source, ChainRef chain) {
        this.source = source;
        this.chain = chain;
    }

    @Override
    public long bytes() {
        return chain.elementBytes;
    }

    @Override
    public long size() {
        return chain.elements;
    }

    @Override
    public Elements elements() {
        ChainReader reader = new ChainReader(source, chain.head, chain.bytes);
        return into -> {
            checkUsable();
            return next(reader, into);
        };
    }

    private static boolean next(ChainReader reader, Slice into) {
        if (reader.left() == 0) {
            return false;
        }
        reader.read(into, reader.readVarInt());
        return true;
    }

    /** Throws if the pages may have gone; and on the live store passes a safepoint. */
    void checkUsable() {}
}
