package io.afterbay.flink.state;

import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * A list as it was when it was read, deserialised element by element on every pass, so that it may
 * be larger than memory. Later changes of the state do not show. Removals through an iterator hide
 * the element from later passes and leave the state alone: evicting windows rely on that, and write
 * the rest back.
 *
 * <p>Valid until the operator moves to another key.
 */
final class LazyList<T> implements Iterable<T> {
    /** Removed positions in pages of 2^30, since a list may have more than 2^31 elements. */
    private static final int PAGE_BITS = 30;

    private final String state;
    private final ListReader reader;
    private final TypeSerializer<T> serializer;
    private final CurrentKey<?> currentKey;
    private final long version;
    private final Map<Long, BitSet> removed = new HashMap<>();

    LazyList(
            String state,
            ListReader reader,
            TypeSerializer<T> serializer,
            CurrentKey<?> currentKey) {
        this.state = state;
        this.reader = reader;
        this.serializer = serializer;
        this.currentKey = currentKey;
        this.version = currentKey.version();
    }

    @Override
    public Iterator<T> iterator() {
        checkValid();
        return new Pass();
    }

    private void checkValid() {
        if (version != currentKey.version()) {
            throw new IllegalStateException(
                    "the list of state '%s' was read under another key; copy what is needed beyond"
                                    .formatted(state)
                            + " the call that read it");
        }
    }

    private boolean isRemoved(long position) {
        if (removed.isEmpty()) {
            return false;
        }
        BitSet page = removed.get(position >> PAGE_BITS);
        return page != null && page.get(indexInPage(position));
    }

    private void remove(long position) {
        removed.computeIfAbsent(position >> PAGE_BITS, absent -> new BitSet())
                .set(indexInPage(position));
    }

    private static int indexInPage(long position) {
        return (int) (position & ((1 << PAGE_BITS) - 1));
    }

    private final class Pass implements Iterator<T> {
        private final ListReader.Elements elements = reader.elements();
        private final Slice slice = new Slice();
        private final DataInputDeserializer in = new DataInputDeserializer();
        private long position = -1;
        private long returned = -1;
        private boolean fetched;
        private boolean ended;

        @Override
        public boolean hasNext() {
            if (!fetched && !ended) {
                checkValid();
                fetch();
            }
            return fetched;
        }

        private void fetch() {
            currentKey.beginAccess();
            while (elements.next(slice)) {
                position++;
                if (!isRemoved(position)) {
                    fetched = true;
                    return;
                }
            }
            ended = true;
        }

        @Override
        public T next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            fetched = false;
            returned = position;
            return deserialize();
        }

        private T deserialize() {
            in.setBuffer(slice.array(), 0, slice.length());
            try {
                return serializer.deserialize(in);
            } catch (IOException e) {
                throw new FlinkRuntimeException(
                        "could not deserialise an element of state '" + state + "'", e);
            }
        }

        @Override
        public void remove() {
            if (returned < 0 || isRemoved(returned)) {
                throw new IllegalStateException("next() comes before remove()");
            }
            LazyList.this.remove(returned);
        }
    }

    /** For messages only. */
    @Override
    public String toString() {
        return "list of state '" + state + "', " + reader.size() + " elements";
    }
}
