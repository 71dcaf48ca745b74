package io.afterbay.flink.state;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.FlinkRuntimeException;

/** The keys (and namespaces) of a state, each once, in order of key group. */
public final class KeyScan<K, N> {
    private final StateContext<K> context;
    private final KvState<N, ?> state;
    private final DataInputDeserializer in = new DataInputDeserializer();
    private final Slice found = new Slice();

    public KeyScan(StateContext<K> context, KvState<N, ?> state) {
        this.context = context;
        this.state = state;
    }

    /** The keys that have an entry in the namespace. Close the stream. */
    public Stream<K> keys(N namespace) {
        return keys(namespace, List.of());
    }

    /** As {@link #keys(Object)}, without those that have an entry in one of the other states. */
    public Stream<K> keys(N namespace, List<KeyScan<K, N>> without) {
        context.gate().pass();
        byte[] wanted = serialize(namespace);
        return stream(
                new Addresses<K>() {
                    @Override
                    boolean accepts(StateKey at) {
                        return isNamespace(at, wanted)
                                && without.stream().noneMatch(other -> other.contains(at));
                    }

                    @Override
                    K element(StateKey at) {
                        return key(at);
                    }
                });
    }

    /** All pairs of key and namespace that have an entry. Close the stream. */
    public Stream<Tuple2<K, N>> keysAndNamespaces() {
        context.gate().pass();
        return stream(
                new Addresses<Tuple2<K, N>>() {
                    @Override
                    boolean accepts(StateKey at) {
                        return true;
                    }

                    @Override
                    Tuple2<K, N> element(StateKey at) {
                        return Tuple2.of(key(at), namespace(at));
                    }
                });
    }

    private static boolean isNamespace(StateKey at, byte[] wanted) {
        return Arrays.equals(at.bytes(), at.keyLength(), at.length(), wanted, 0, wanted.length);
    }

    private boolean contains(StateKey at) {
        context.objects().writeBack();
        return switch (state.shape()) {
            case VALUE -> context.store().values(state.storeName()).get(at, found);
            case MAP -> !context.store().maps(state.storeName()).isEmpty(at);
            case LIST -> containsList(at);
            default -> throw new IllegalStateException("no keys in " + state.shape());
        };
    }

    private boolean containsList(StateKey at) {
        if (state.alignment() == null) {
            return false;
        }
        context.currentKey().readerHandedOut();
        return state.lists(context.store(), context.registry()).get(at) != null;
    }

    /** The number of entries; those of a map count one by one. */
    public int count() {
        context.gate().pass();
        int count = 0;
        try (EntryCursor entries = scan()) {
            while (entries.next()) {
                count++;
            }
        }
        return count;
    }

    private EntryCursor scan() {
        context.objects().writeBack();
        return state.scan(
                context.store(),
                context.keyGroups().getStartKeyGroup(),
                context.keyGroups().getEndKeyGroup());
    }

    private static <E> Stream<E> stream(KeyScan<?, ?>.Addresses<E> addresses) {
        return StreamSupport.stream(
                        Spliterators.spliteratorUnknownSize(addresses, Spliterator.ORDERED), false)
                .onClose(addresses::close);
    }

    private byte[] serialize(N namespace) {
        DataOutputSerializer out = new DataOutputSerializer(32);
        try {
            state.metaInfo().getNamespaceSerializer().serialize(namespace, out);
        } catch (IOException e) {
            throw new FlinkRuntimeException("could not serialise the namespace " + namespace, e);
        }
        return out.getCopyOfBuffer();
    }

    private K key(StateKey at) {
        return deserialize(context.keySerializer(), at.bytes(), 0, at.keyLength());
    }

    private N namespace(StateKey at) {
        return deserialize(
                state.metaInfo().getNamespaceSerializer(),
                at.bytes(),
                at.keyLength(),
                at.namespaceLength());
    }

    private <T> T deserialize(TypeSerializer<T> serializer, byte[] bytes, int offset, int length) {
        in.setBuffer(bytes, offset, length);
        try {
            return serializer.deserialize(in);
        } catch (IOException e) {
            throw new FlinkRuntimeException(
                    "could not deserialise a key or namespace of state '" + state.name() + "'", e);
        }
    }

    /** Walks the entries; those of one map, which come one after the other, count as one. */
    private abstract class Addresses<E> implements Iterator<E> {
        private final EntryCursor cursor = scan();
        private byte[] last = new byte[0];
        private int lastKeyLength = -1;
        private boolean onEntry;
        private boolean ended;

        abstract boolean accepts(StateKey at);

        abstract E element(StateKey at);

        @Override
        public boolean hasNext() {
            context.gate().pass();
            if (!onEntry && !ended) {
                onEntry = advance();
                ended = !onEntry;
            }
            return onEntry;
        }

        private boolean advance() {
            context.objects().writeBack();
            while (cursor.next()) {
                if (accepts(cursor.key()) && !repeats(cursor.key())) {
                    return true;
                }
            }
            return false;
        }

        private boolean repeats(StateKey at) {
            if (state.shape() != StateShape.MAP) {
                return false;
            }
            boolean same =
                    lastKeyLength == at.keyLength()
                            && Arrays.equals(last, 0, last.length, at.bytes(), 0, at.length());
            if (!same) {
                last = Arrays.copyOf(at.bytes(), at.length());
                lastKeyLength = at.keyLength();
            }
            return same;
        }

        @Override
        public E next() {
            context.gate().pass();
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            onEntry = false;
            return element(cursor.key());
        }

        void close() {
            context.gate().pass();
            cursor.close();
        }
    }
}
