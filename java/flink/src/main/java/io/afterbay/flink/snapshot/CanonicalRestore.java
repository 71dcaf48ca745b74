package io.afterbay.flink.snapshot;

import io.afterbay.flink.snapshot.RestoredStates.ElementTarget;
import io.afterbay.flink.snapshot.RestoredStates.KvTarget;
import io.afterbay.flink.snapshot.RestoredStates.Target;
import io.afterbay.flink.snapshot.RestoredStates.TimerTarget;
import io.afterbay.flink.state.KvState;
import io.afterbay.store.ListStore;
import io.afterbay.store.StateKey;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateSerializerProvider;
import org.apache.flink.runtime.state.restore.FullSnapshotRestoreOperation;
import org.apache.flink.runtime.state.restore.KeyGroup;
import org.apache.flink.runtime.state.restore.KeyGroupEntry;
import org.apache.flink.runtime.state.restore.SavepointRestoreResult;
import org.apache.flink.runtime.state.restore.ThrowingIterator;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.MathUtils;

/**
 * Restores from canonical savepoints, whichever backend wrote them. Entries are cut into their
 * parts and stored as they are; parts are deserialised only to find where they end.
 */
final class CanonicalRestore<K> {
    private final RestoredStates restored;
    private final StateSerializerProvider<K> keySerializer;
    private final KeyGroupRange keyGroups;
    private final int prefixBytes;
    private final ClassLoader classLoader;
    private final DataInputDeserializer in = new DataInputDeserializer();
    private final StateKey key = new StateKey();

    CanonicalRestore(
            RestoredStates restored,
            StateSerializerProvider<K> keySerializer,
            KeyGroupRange keyGroups,
            int totalKeyGroups,
            ClassLoader classLoader) {
        this.restored = restored;
        this.keySerializer = keySerializer;
        this.keyGroups = keyGroups;
        this.prefixBytes =
                CompositeKeySerializationUtils.computeRequiredBytesInKeyGroupPrefix(totalKeyGroups);
        this.classLoader = classLoader;
    }

    void restore(Collection<KeyedStateHandle> handles) throws Exception {
        try (ThrowingIterator<SavepointRestoreResult> results =
                new FullSnapshotRestoreOperation<>(keyGroups, classLoader, handles, keySerializer)
                        .restore()) {
            while (results.hasNext()) {
                restore(results.next());
            }
        }
    }

    private void restore(SavepointRestoreResult savepoint) throws Exception {
        List<Target> targets = restored.register(savepoint.getStateMetaInfoSnapshots());
        try (ThrowingIterator<KeyGroup> groups = savepoint.getRestoredKeyGroups()) {
            while (groups.hasNext()) {
                KeyGroup group = groups.next();
                try (ThrowingIterator<KeyGroupEntry> entries = group.getKeyGroupEntries()) {
                    while (entries.hasNext()) {
                        KeyGroupEntry entry = entries.next();
                        restore(targets.get(entry.getKvStateId()), group.getKeyGroupId(), entry);
                    }
                }
            }
        }
    }

    private void restore(Target target, int keyGroup, KeyGroupEntry entry) throws IOException {
        in.setBuffer(entry.getKey());
        in.skipBytesToRead(prefixBytes);
        if (target instanceof KvTarget kv) {
            restoreEntry(kv.state(), keyGroup, entry);
        } else if (target instanceof TimerTarget timers) {
            restoreTimer(timers, keyGroup, entry.getKey());
        } else if (target instanceof ElementTarget elements) {
            elements.add(in);
        }
    }

    private void restoreTimer(TimerTarget target, int keyGroup, byte[] bytes) throws IOException {
        TimerSerializer<?, ?> serializer =
                (TimerSerializer<?, ?>)
                        Objects.requireNonNull(
                                target.state().metaInfo().getPreviousElementSerializer());
        long timestamp = MathUtils.flipSignBit(in.readLong());
        readAddress(
                serializer.getKeySerializer(),
                serializer.getNamespaceSerializer(),
                false,
                keyGroup,
                bytes);
        restored.addTimer(target, timestamp, key);
    }

    private void restoreEntry(KvState<?, ?> state, int keyGroup, KeyGroupEntry entry)
            throws IOException {
        TypeSerializer<?> keys = keySerializer.previousSchemaSerializer();
        TypeSerializer<?> namespaces = state.metaInfo().getPreviousNamespaceSerializer();
        boolean ambiguous = CompositeKeySerializationUtils.isAmbiguousKeyPossible(keys, namespaces);
        byte[] bytes = entry.getKey();
        readAddress(keys, namespaces, ambiguous, keyGroup, bytes);
        byte[] value = entry.getValue();
        switch (state.shape()) {
            case VALUE ->
                    restored.store().values(state.storeName()).put(key, value, 0, value.length);
            case MAP -> putMapEntry(state, bytes, value);
            case LIST -> appendList(state, value);
            default -> throw new IllegalStateException("no entries in " + state.shape());
        }
    }

    private void putMapEntry(KvState<?, ?> state, byte[] bytes, byte[] value) {
        int at = in.getPosition();
        byte[] userKey = java.util.Arrays.copyOfRange(bytes, at, bytes.length);
        restored.store()
                .maps(state.storeName())
                .put(key, userKey, userKey.length, value, 0, value.length);
    }

    /** Elements with one byte between them. */
    private void appendList(KvState<?, ?> state, byte[] value) throws IOException {
        ListStore lists = state.lists(restored.store(), restored.registry());
        TypeSerializer<?> element =
                ((ListSerializer<?>) state.metaInfo().getPreviousStateSerializer())
                        .getElementSerializer();
        in.setBuffer(value);
        while (in.available() > 0) {
            int start = in.getPosition();
            element.deserialize(in);
            lists.append(key, value, start, in.getPosition() - start);
            if (in.available() > 0) {
                in.skipBytesToRead(1);
            }
        }
    }

    private void readAddress(
            TypeSerializer<?> keys,
            TypeSerializer<?> namespaces,
            boolean ambiguous,
            int keyGroup,
            byte[] bytes)
            throws IOException {
        int start = in.getPosition();
        int length = skipPart(keys, ambiguous);
        key.setKey(keyGroup, bytes, start, length);
        start = in.getPosition();
        length = skipPart(namespaces, ambiguous);
        key.setNamespace(bytes, start, length);
    }

    /**
     * The length of the part itself, without the length that may follow it. Serializers cannot be
     * asked for it: that of {@code VoidNamespace} says 0 and writes 1.
     */
    private int skipPart(TypeSerializer<?> serializer, boolean ambiguous) throws IOException {
        int start = in.getPosition();
        serializer.deserialize(in);
        int length = in.getPosition() - start;
        if (ambiguous) {
            CompositeKeySerializationUtils.readVariableIntBytes(in, length);
        }
        return length;
    }
}
