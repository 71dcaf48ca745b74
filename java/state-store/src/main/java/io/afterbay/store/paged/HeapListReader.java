package io.afterbay.store.paged;

import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Another list's elements, if any, and then some on the heap. */
record HeapListReader(@Nullable ListReader first, List<byte[]> then) implements ListReader {
    @Override
    public long bytes() {
        long sum = first == null ? 0 : first.bytes();
        for (byte[] element : then) {
            sum += element.length;
        }
        return sum;
    }

    @Override
    public long size() {
        return (first == null ? 0 : first.size()) + then.size();
    }

    @Override
    public Elements elements() {
        Elements before = first == null ? into -> false : first.elements();
        Iterator<byte[]> after = then.iterator();
        return into -> before.next(into) || next(after, into);
    }

    private static boolean next(Iterator<byte[]> elements, Slice into) {
        if (!elements.hasNext()) {
            return false;
        }
        byte[] element = elements.next();
        into.set(element, 0, element.length);
        return true;
    }
}
