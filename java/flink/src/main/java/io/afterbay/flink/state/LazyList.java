package io.afterbay.flink.state;

import com.esotericsoftware.kryo.DefaultSerializer;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * A list as it was when it was read. Going through it, by iterator or by ascending index,
 * deserialises element by element on every pass, so that it may be larger than memory. Any other
 * use copies it to the heap first, where other backends have it from the beginning: access by other
 * indexes, and changes but for removals through an iterator, which only hide the element from later
 * passes (evicting windows rely on that, and write the rest back). Neither changes the state, nor
 * do later changes of the state show. Java's serialisation and Kryo make an {@code ArrayList} of
 * it.
 *
 * <p>When the operator moves to another key, what was read of the store ends. The list is then read
 * again where it was: as elements are only ever appended, it begins with what this list has, unless
 * lists of the state have been removed or rewritten since. If they have, it is of no more use,
 * unless it was copied before.
 */
@DefaultSerializer(LazyListSerializer.class)
final class LazyList<T> extends AbstractList<T> implements Serializable {
    private static final long serialVersionUID = 1;

    /** Removed positions in pages of 2^30, since a list may have more than 2^31 elements. */
    private static final int PAGE_BITS = 30;

    private static final int CAPACITY_MAX = 1 << 20;

    private final transient KvState<?, ?> state;
    private final transient ReadAgain readAgain;
    private final transient TypeSerializer<T> serializer;
    private final transient CurrentKey<?> currentKey;

    /** Of elements when the list was read; there may be more by now. */
    private final transient long stored;

    /** {@link KvState#removals} when the list was read. */
    private final transient long removals;

    private transient ListReader reader;

    /** {@link CurrentKey#version} as long as {@link #reader} is valid. */
    private transient long version;

    private final transient Map<Long, BitSet> removed = new HashMap<>();
    private transient long removedCount;

    /** The pass that {@link #get} reads by ascending index; null before the first. */
    private transient @Nullable Pass ascending;

    /** All elements, once more than passes is asked for. */
    private transient @Nullable List<T> copy;

    /** Reads the list once more, where it was read first, whatever the current key is. */
    @FunctionalInterface
    interface ReadAgain {
        @Nullable ListReader read();
    }

    LazyList(
            KvState<?, ?> state,
            ListReader reader,
            ReadAgain readAgain,
            TypeSerializer<T> serializer,
            CurrentKey<?> currentKey) {
        this.state = state;
        this.reader = reader;
        this.readAgain = readAgain;
        this.serializer = serializer;
        this.currentKey = currentKey;
        this.stored = reader.size();
        this.removals = state.removals();
        this.version = currentKey.version();
    }

    @Override
    public Iterator<T> iterator() {
        if (copy != null) {
            return copy.iterator();
        }
        currentKey.beginAccess();
        return new Pass();
    }

    @Override
    public int size() {
        return copy == null
                ? (int) Math.min(stored - removedCount, Integer.MAX_VALUE)
                : copy.size();
    }

    @Override
    public T get(int index) {
        if (copy == null) {
            if (index == 0) {
                ascending = (Pass) iterator();
            }
            if (ascending != null && ascending.index == index && ascending.hasNext()) {
                return ascending.next();
            }
        }
        return copied().get(index);
    }

    @Override
    public T set(int index, T element) {
        return copied().set(index, element);
    }

    @Override
    public void add(int index, T element) {
        modCount++;
        copied().add(index, element);
    }

    @Override
    public T remove(int index) {
        modCount++;
        return copied().remove(index);
    }

    @Override
    public void clear() {
        modCount++;
        copy = new ArrayList<>();
    }

    private List<T> copied() {
        if (copy == null) {
            List<T> all = new ArrayList<>(Math.min(size(), CAPACITY_MAX));
            iterator().forEachRemaining(all::add);
            copy = all;
        }
        return copy;
    }

    private Object writeReplace() {
        return new ArrayList<>(this);
    }

    private void readObject(ObjectInputStream in) throws InvalidObjectException {
        throw new InvalidObjectException("an ArrayList is written in its place");
    }

    /** Valid until the key changes. */
    private ListReader reader() {
        if (version != currentKey.version()) {
            ListReader again = state.removals() == removals ? readAgain.read() : null;
            if (again == null) {
                throw new IllegalStateException(
                        ("the list of state '%s' was read under another key, and lists of that state"
                                        + " were cleared or rewritten since; copy what is needed"
                                        + " beyond the call that read it")
                                .formatted(state.name()));
            }
            reader = again;
            version = currentKey.version();
        }
        return reader;
    }

    private boolean isRemoved(long position) {
        if (removed.isEmpty()) {
            return false;
        }
        BitSet page = removed.get(position >> PAGE_BITS);
        return page != null && page.get(indexInPage(position));
    }

    private void hide(long position) {
        removed.computeIfAbsent(position >> PAGE_BITS, absent -> new BitSet())
                .set(indexInPage(position));
        removedCount++;
        ascending = null;
    }

    private static int indexInPage(long position) {
        return (int) (position & ((1 << PAGE_BITS) - 1));
    }

    /** Goes on in the copy once there is one. */
    private final class Pass implements Iterator<T> {
        private ListReader.Elements elements = reader().elements();
        private long version = LazyList.this.version;
        private final Slice slice = new Slice();
        private final DataInputDeserializer in = new DataInputDeserializer();

        /** Of the element in {@link #slice} among all that the state had. */
        private long position = -1;

        private long returned = -1;

        /** Of the next element in the list. */
        private long index;

        private boolean fetched;
        private boolean ended;
        private @Nullable ListIterator<T> inCopy;

        @Override
        public boolean hasNext() {
            if (isCopied()) {
                return inCopy().hasNext();
            }
            if (!fetched && !ended) {
                currentKey.beginAccess();
                goOn();
                fetch();
            }
            return fetched;
        }

        private boolean isCopied() {
            return copy != null;
        }

        private ListIterator<T> inCopy() {
            if (inCopy == null) {
                inCopy = copied().listIterator(Math.toIntExact(index));
            }
            return inCopy;
        }

        /** At the same element of the list as it is read now, if the key has changed. */
        private void goOn() {
            if (version == currentKey.version()) {
                return;
            }
            elements = reader().elements();
            version = LazyList.this.version;
            for (long i = 0; i <= position; i++) {
                elements.next(slice);
            }
        }

        private void fetch() {
            while (position + 1 < stored && elements.next(slice)) {
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
            if (isCopied()) {
                return inCopy().next();
            }
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            fetched = false;
            returned = position;
            index++;
            return deserialize();
        }

        private T deserialize() {
            in.setBuffer(slice.array(), 0, slice.length());
            try {
                return serializer.deserialize(in);
            } catch (IOException e) {
                throw new FlinkRuntimeException(
                        "could not deserialise an element of state '" + state.name() + "'", e);
            }
        }

        @Override
        public void remove() {
            if (inCopy != null) {
                inCopy.remove();
                return;
            }
            if (returned < 0 || isRemoved(returned)) {
                throw new IllegalStateException("next() comes before remove()");
            }
            hide(returned);
            index--;
            if (isCopied()) {
                copied().remove(Math.toIntExact(index));
            }
        }
    }
}
