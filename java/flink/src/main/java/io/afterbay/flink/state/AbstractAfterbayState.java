package io.afterbay.flink.state;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import java.io.IOException;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * What all states share: the address (key and namespace, each serialised once per change), the
 * serializers, and buffers that are reused from access to access.
 */
abstract class AbstractAfterbayState<K, N, V> implements InternalKvState<K, N, V> {
    final StateContext<K> context;
    final KvState<N, V> state;
    final DataOutputSerializer out = new DataOutputSerializer(128);
    final DataInputDeserializer in = new DataInputDeserializer();
    final Slice slice = new Slice();
    private final CurrentKey<K> currentKey;
    private final StateKey address = new StateKey();
    private final DataOutputSerializer namespaceBytes = new DataOutputSerializer(32);
    private TypeSerializer<N> namespaceSerializer;
    private TypeSerializer<V> valueSerializer;
    private @Nullable V defaultValue;
    private @Nullable N namespace;
    private boolean namespaceSerialized;
    private boolean immutableNamespaces;
    private long addressVersion = -1;

    AbstractAfterbayState(StateContext<K> context, KvState<N, V> state) {
        this.context = context;
        this.currentKey = context.currentKey();
        this.state = state;
        this.namespaceSerializer = state.metaInfo().getNamespaceSerializer();
        this.immutableNamespaces = namespaceSerializer.isImmutableType();
        this.valueSerializer = state.metaInfo().getStateSerializer();
    }

    /** Takes over what the descriptor and the meta data say now; the content stays. */
    void update(StateDescriptor<?, V> descriptor) {
        namespaceSerializer = state.metaInfo().getNamespaceSerializer();
        immutableNamespaces = namespaceSerializer.isImmutableType();
        valueSerializer = state.metaInfo().getStateSerializer();
        defaultValue = descriptor.getDefaultValue();
        namespaceSerialized = false;
        addressVersion = -1;
        reopen();
    }

    /** Fetches the store's state anew: a migration has replaced it. */
    abstract void reopen();

    StateStore store() {
        return context.store();
    }

    CurrentKey<K> currentKey() {
        return currentKey;
    }

    /** The first thing that a method does which others may call. */
    final void beginAccess() {
        currentKey.beginAccess();
    }

    @Override
    public TypeSerializer<K> getKeySerializer() {
        return context.keySerializer();
    }

    @Override
    public TypeSerializer<N> getNamespaceSerializer() {
        return namespaceSerializer;
    }

    @Override
    public TypeSerializer<V> getValueSerializer() {
        return valueSerializer;
    }

    @Override
    public void setCurrentNamespace(N newNamespace) {
        beginAccess();
        // Comparing windows is cheaper than serialising them, and they seldom change.
        if (namespaceSerialized && immutableNamespaces && newNamespace.equals(namespace)) {
            return;
        }
        namespace = newNamespace;
        namespaceSerialized = false;
    }

    /** The present namespace. */
    final N namespace() {
        if (namespace == null) {
            throw new NullPointerException("No namespace set for state '" + state.name() + "'.");
        }
        return namespace;
    }

    /** Key and namespace of the present access; valid until either changes. */
    final StateKey address() {
        if (namespaceSerialized && addressVersion == currentKey.version()) {
            return address;
        }
        if (addressVersion != currentKey.version()) {
            currentKey.copyTo(address);
            addressVersion = currentKey.version();
        }
        if (!namespaceSerialized) {
            serializeNamespace();
        }
        return address.setNamespace(namespaceBytes.getSharedBuffer(), 0, namespaceBytes.length());
    }

    private void serializeNamespace() {
        N present = namespace();
        namespaceBytes.clear();
        try {
            namespaceSerializer.serialize(present, namespaceBytes);
        } catch (IOException e) {
            throw failed("serialise the namespace " + present + " of", e);
        }
        namespaceSerialized = true;
    }

    @Nullable V defaultValue() {
        return defaultValue == null ? null : valueSerializer.copy(defaultValue);
    }

    FlinkRuntimeException failed(String action, IOException cause) {
        return new FlinkRuntimeException(
                "could not " + action + " state '" + state.name() + "'", cause);
    }

    @Override
    public byte @Nullable [] getSerializedValue(
            byte[] serializedKeyAndNamespace,
            TypeSerializer<K> safeKeySerializer,
            TypeSerializer<N> safeNamespaceSerializer,
            TypeSerializer<V> safeValueSerializer)
            throws Exception {
        Tuple2<K, N> query =
                KvStateSerializer.deserializeKeyAndNamespace(
                        serializedKeyAndNamespace, safeKeySerializer, safeNamespaceSerializer);
        StateKey at = addressOf(query.f0, safeKeySerializer, query.f1, safeNamespaceSerializer);
        return context.gate()
                .query(() -> serializedValue(query.f0, query.f1, at, safeValueSerializer));
    }

    private StateKey addressOf(
            K key,
            TypeSerializer<K> keySerializer,
            N itsNamespace,
            TypeSerializer<N> itsNamespaceSerializer)
            throws IOException {
        DataOutputSerializer buffer = new DataOutputSerializer(64);
        keySerializer.serialize(key, buffer);
        int keyLength = buffer.length();
        itsNamespaceSerializer.serialize(itsNamespace, buffer);
        byte[] bytes = buffer.getSharedBuffer();
        int keyGroup = KeyGroupRangeAssignment.assignToKeyGroup(key, context.totalKeyGroups());
        return new StateKey()
                .setKey(keyGroup, bytes, 0, keyLength)
                .setNamespace(bytes, keyLength, buffer.length() - keyLength);
    }

    /**
     * The value of a key and namespace as Flink's raw access wants it; null if there is none. May
     * run on another thread than the owner's, while that is kept out: must use no buffer of this
     * state, and change nothing.
     *
     * @param at where the store has it
     */
    byte @Nullable [] serializedValue(
            K key, N itsNamespace, StateKey at, TypeSerializer<V> serializer) throws Exception {
        return serializedValue(at, serializer);
    }

    /** The same, of what the store has. */
    abstract byte @Nullable [] serializedValue(StateKey at, TypeSerializer<V> serializer)
            throws Exception;

    @Override
    public StateIncrementalVisitor<K, N, V> getStateIncrementalVisitor(
            int recommendedMaxNumberOfReturnedRecords) {
        TtlFilter filter = state.ttl();
        if (filter == null) {
            throw new UnsupportedOperationException(
                    "state '"
                            + state.name()
                            + "' has no time to live: there is nothing to clean up");
        }
        return new TtlCleanup<>(context, state, filter, recommendedMaxNumberOfReturnedRecords);
    }
}
