package io.afterbay.flink.state;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.MapStore;
import io.afterbay.store.StateKey;
import java.io.IOException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.jspecify.annotations.Nullable;

/** {@code MapState}: entries are stored one by one. */
final class AfterbayMapState<K, N, UK, UV> extends AbstractAfterbayState<K, N, Map<UK, UV>>
        implements InternalMapState<K, N, UK, UV> {
    private MapStore maps;
    private TypeSerializer<UK> keySerializer;
    private TypeSerializer<UV> valueSerializer;
    private final DataOutputSerializer userKey = new DataOutputSerializer(64);

    AfterbayMapState(StateContext<K> context, KvState<N, Map<UK, UV>> state) {
        super(context, state);
        maps = store().maps(state.storeName());
        keySerializer = serializer().getKeySerializer();
        valueSerializer = serializer().getValueSerializer();
    }

    @Override
    void reopen() {
        maps = store().maps(state.storeName());
        keySerializer = serializer().getKeySerializer();
        valueSerializer = serializer().getValueSerializer();
    }

    private MapSerializer<UK, UV> serializer() {
        return (MapSerializer<UK, UV>) getValueSerializer();
    }

    @Override
    public @Nullable UV get(UK key) {
        beginAccess();
        serializeKey(key);
        return maps.get(address(), userKey.getSharedBuffer(), userKey.length(), slice)
                ? deserializeValue(slice.array(), slice.length())
                : null;
    }

    private void serializeKey(UK key) {
        userKey.clear();
        try {
            keySerializer.serialize(key, userKey);
        } catch (IOException e) {
            throw failed("serialise a user key of", e);
        }
    }

    private @Nullable UV deserializeValue(byte[] bytes, int length) {
        in.setBuffer(bytes, 0, length);
        try {
            return MapValues.read(in, valueSerializer);
        } catch (IOException e) {
            throw failed("deserialise a value of", e);
        }
    }

    @Override
    public void put(UK key, @Nullable UV value) {
        beginAccess();
        put(address(), key, value);
    }

    private void put(StateKey at, UK key, @Nullable UV value) {
        serializeKey(key);
        out.clear();
        try {
            MapValues.write(value, valueSerializer, out);
        } catch (IOException e) {
            throw failed("serialise a value of", e);
        }
        maps.put(
                at,
                userKey.getSharedBuffer(),
                userKey.length(),
                out.getSharedBuffer(),
                0,
                out.length());
    }

    @Override
    public void putAll(@Nullable Map<UK, UV> map) {
        beginAccess();
        if (map != null) {
            map.forEach(this::put);
        }
    }

    @Override
    public void remove(UK key) {
        beginAccess();
        remove(address(), key);
    }

    private void remove(StateKey at, UK key) {
        serializeKey(key);
        maps.remove(at, userKey.getSharedBuffer(), userKey.length());
    }

    @Override
    public boolean contains(UK key) {
        beginAccess();
        serializeKey(key);
        return maps.contains(address(), userKey.getSharedBuffer(), userKey.length());
    }

    @Override
    public boolean isEmpty() {
        beginAccess();
        return maps.isEmpty(address());
    }

    @Override
    public void clear() {
        beginAccess();
        maps.clear(address());
    }

    @Override
    public Iterable<Map.Entry<UK, UV>> entries() {
        return this::iterator;
    }

    @Override
    public Iterator<Map.Entry<UK, UV>> iterator() {
        beginAccess();
        return new Entries<Map.Entry<UK, UV>>() {
            @Override
            Map.Entry<UK, UV> element(EntryCursor cursor) {
                return new Entry(at, deserializeKey(cursor), deserializeValue(cursor));
            }

            @Override
            void remove(Map.Entry<UK, UV> entry) {
                AfterbayMapState.this.remove(at, entry.getKey());
            }
        };
    }

    @Override
    public Iterable<UK> keys() {
        return () -> {
            beginAccess();
            return new Entries<UK>() {
                @Override
                UK element(EntryCursor cursor) {
                    return deserializeKey(cursor);
                }

                @Override
                void remove(UK key) {
                    AfterbayMapState.this.remove(at, key);
                }
            };
        };
    }

    @Override
    public Iterable<UV> values() {
        return () -> {
            Iterator<Map.Entry<UK, UV>> entries = iterator();
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return entries.hasNext();
                }

                @Override
                public UV next() {
                    return entries.next().getValue();
                }

                @Override
                public void remove() {
                    entries.remove();
                }
            };
        };
    }

    private UK deserializeKey(EntryCursor cursor) {
        in.setBuffer(cursor.userKey().array(), 0, cursor.userKey().length());
        try {
            return keySerializer.deserialize(in);
        } catch (IOException e) {
            throw failed("deserialise a user key of", e);
        }
    }

    private @Nullable UV deserializeValue(EntryCursor cursor) {
        return deserializeValue(cursor.value().array(), cursor.value().length());
    }

    @Override
    byte @Nullable [] serializedValue(StateKey at, TypeSerializer<Map<UK, UV>> serializer)
            throws IOException {
        MapSerializer<UK, UV> safe = (MapSerializer<UK, UV>) serializer;
        Map<UK, UV> map = new HashMap<>();
        DataInputDeserializer buffer = new DataInputDeserializer();
        try (EntryCursor cursor = maps.entries(at)) {
            while (cursor.next()) {
                buffer.setBuffer(cursor.userKey().array(), 0, cursor.userKey().length());
                UK key = safe.getKeySerializer().deserialize(buffer);
                buffer.setBuffer(cursor.value().array(), 0, cursor.value().length());
                map.put(key, MapValues.read(buffer, safe.getValueSerializer()));
            }
        }
        return map.isEmpty()
                ? null
                : KvStateSerializer.serializeMap(
                        map.entrySet(), safe.getKeySerializer(), safe.getValueSerializer());
    }

    /** Walks the entries of the key and namespace that are current when it is made. */
    private abstract class Entries<E> extends CursorIterator<E> {
        final StateKey at;

        Entries() {
            this(StateKey.copyOf(address()));
        }

        private Entries(StateKey at) {
            super(currentKey(), maps.entries(at));
            this.at = at;
        }
    }

    private final class Entry implements Map.Entry<UK, UV> {
        private final StateKey at;
        private final UK key;
        private @Nullable UV value;

        Entry(StateKey at, UK key, @Nullable UV value) {
            this.at = at;
            this.key = key;
            this.value = value;
        }

        @Override
        public UK getKey() {
            return key;
        }

        @Override
        public @Nullable UV getValue() {
            return value;
        }

        @Override
        public @Nullable UV setValue(@Nullable UV newValue) {
            beginAccess();
            UV old = value;
            put(at, key, newValue);
            value = newValue;
            return old;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Map.Entry<?, ?> entry
                    && java.util.Objects.equals(key, entry.getKey())
                    && java.util.Objects.equals(value, entry.getValue());
        }

        @Override
        public int hashCode() {
            return java.util.Objects.hashCode(key) ^ java.util.Objects.hashCode(value);
        }

        @Override
        public String toString() {
            return key + "=" + value;
        }
    }
}
