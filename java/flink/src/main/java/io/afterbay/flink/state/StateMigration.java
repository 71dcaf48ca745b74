package io.afterbay.flink.state;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.ValueStore;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.ttl.TtlAwareSerializer;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.util.StateMigrationException;

/**
 * Rewrites the values of a restored state when its serializer has changed its format, or when a
 * time to live was added or removed. Reads from a snapshot and writes into the emptied state, so
 * that nothing is converted twice.
 */
final class StateMigration<N, V> {
    private final StateStore store;
    private final StateRegistry registry;
    private final KvState<N, V> state;
    private final KeyGroupRange keyGroups;
    private final TtlTimeProvider ttlTime;
    private final DataInputDeserializer in = new DataInputDeserializer();
    private final DataOutputSerializer out = new DataOutputSerializer(256);

    StateMigration(StateContext<?> context, KvState<N, V> state) {
        this.store = context.store();
        this.registry = context.registry();
        this.keyGroups = context.keyGroups();
        this.ttlTime = context.ttlTime();
        this.state = state;
    }

    void run() throws StateMigrationException {
        RegisteredKeyValueStateBackendMetaInfo<N, V> info = state.metaInfo();
        checkMapKeys(info);
        TtlAwareSerializer<?, ?> previous =
                TtlAwareSerializer.wrapTtlAwareSerializer(info.getPreviousStateSerializer());
        TtlAwareSerializer<?, ?> current =
                TtlAwareSerializer.wrapTtlAwareSerializer(info.getStateSerializer());
        try (StoreSnapshot before = store.snapshot()) {
            state.countRemoval();
            store.drop(state.storeName());
            for (int keyGroup : keyGroups) {
                try (EntryCursor entries = before.fragments(state.storeName(), keyGroup)) {
                    rewrite(entries, previous, current);
                }
            }
        } catch (IOException | RuntimeException e) {
            throw new StateMigrationException(
                    "state '%s' could not be migrated from %s to %s"
                            .formatted(
                                    state.name(),
                                    info.getPreviousStateSerializer(),
                                    info.getStateSerializer()),
                    e);
        }
    }

    private void rewrite(
            EntryCursor entries,
            TtlAwareSerializer<?, ?> previous,
            TtlAwareSerializer<?, ?> current)
            throws IOException {
        switch (state.shape()) {
            case VALUE -> rewriteValues(entries, previous, current);
            case MAP ->
                    rewriteMaps(
                            entries,
                            ((TtlAwareSerializer.TtlAwareMapSerializer<?, ?>) previous)
                                    .getValueSerializer(),
                            ((TtlAwareSerializer.TtlAwareMapSerializer<?, ?>) current)
                                    .getValueSerializer());
            case LIST ->
                    rewriteLists(
                            entries,
                            ((TtlAwareSerializer.TtlAwareListSerializer<?>) previous)
                                    .getElementSerializer(),
                            ((TtlAwareSerializer.TtlAwareListSerializer<?>) current)
                                    .getElementSerializer());
            default -> throw new IllegalStateException("no values in " + state.shape());
        }
    }

    private void rewriteValues(
            EntryCursor entries,
            TtlAwareSerializer<?, ?> previous,
            TtlAwareSerializer<?, ?> current)
            throws IOException {
        ValueStore values = store.values(state.storeName());
        while (entries.next()) {
            begin(entries.value());
            convert(previous, current);
            values.put(entries.key(), out.getSharedBuffer(), 0, out.length());
        }
    }

    private void rewriteMaps(
            EntryCursor entries,
            TtlAwareSerializer<?, ?> previous,
            TtlAwareSerializer<?, ?> current)
            throws IOException {
        MapStore maps = store.maps(state.storeName());
        while (entries.next()) {
            begin(entries.value());
            boolean isNull = in.readBoolean();
            out.writeBoolean(isNull);
            if (!isNull) {
                convert(previous, current);
            }
            Slice userKey = entries.userKey();
            maps.put(
                    entries.key(),
                    userKey.array(),
                    userKey.length(),
                    out.getSharedBuffer(),
                    0,
                    out.length());
        }
    }

    private void rewriteLists(
            EntryCursor entries,
            TtlAwareSerializer<?, ?> previous,
            TtlAwareSerializer<?, ?> current)
            throws IOException {
        ListStore lists = state.lists(store, registry);
        Slice element = new Slice();
        while (entries.next()) {
            ListReader.Elements elements = entries.list().elements();
            while (elements.next(element)) {
                begin(element);
                convert(previous, current);
                lists.append(entries.key(), out.getSharedBuffer(), 0, out.length());
            }
        }
    }

    private void begin(Slice old) {
        in.setBuffer(old.array(), 0, old.length());
        out.clear();
    }

    @SuppressWarnings("unchecked") // Flink has found the two compatible
    private void convert(TtlAwareSerializer<?, ?> previous, TtlAwareSerializer<?, ?> current)
            throws IOException {
        TtlAwareSerializer<Object, ?> from = (TtlAwareSerializer<Object, ?>) previous;
        TtlAwareSerializer<Object, ?> to = (TtlAwareSerializer<Object, ?>) current;
        to.migrateValueFromPriorSerializer(from, () -> from.deserialize(in), out, ttlTime);
    }

    /** User keys are addresses: they cannot change their format. */
    private void checkMapKeys(RegisteredKeyValueStateBackendMetaInfo<N, V> info)
            throws StateMigrationException {
        if (state.shape() != StateShape.MAP) {
            return;
        }
        MapSerializer<?, ?> current = (MapSerializer<?, ?>) info.getStateSerializer();
        if (info.getPreviousStateSerializerSnapshot()
                        instanceof MapSerializerSnapshot<?, ?> previous
                && !sameFormat(previous.getKeySerializerSnapshot(), current.getKeySerializer())) {
            throw new StateMigrationException(
                    "The new serializer for a MapState requires state migration in order for the job to"
                            + " proceed, since the key schema has changed. However, migration for"
                            + " MapState currently only allows value schema evolutions. (State '"
                            + state.name()
                            + "'.)");
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> boolean sameFormat(
            TypeSerializerSnapshot<?> previous, TypeSerializer<T> current) {
        return current.snapshotConfiguration()
                .resolveSchemaCompatibility((TypeSerializerSnapshot<T>) previous)
                .isCompatibleAsIs();
    }
}
