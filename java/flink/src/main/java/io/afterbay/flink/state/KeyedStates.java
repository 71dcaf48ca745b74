package io.afterbay.flink.state;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.util.StateMigrationException;

/** Registers keyed states, checks them against what was restored, and makes the state objects. */
public final class KeyedStates<K> {
    private final StateContext<K> context;
    private final StateRegistry registry;
    private final Map<String, AbstractAfterbayState<K, ?, ?>> created = new HashMap<>();

    public KeyedStates(StateContext<K> context) {
        this.context = context;
        this.registry = context.registry();
    }

    /**
     * @param upgradable whether other serializers may be registered later in this run
     * @throws StateMigrationException if a serializer does not fit what was restored
     */
    @SuppressWarnings("unchecked") // a state's name stands for its types
    public <N, V> Object createOrUpdate(
            TypeSerializer<N> namespaceSerializer,
            StateDescriptor<?, V> descriptor,
            boolean upgradable)
            throws StateMigrationException {
        context.gate().pass();
        context.objects().writeBack();
        KvState<N, V> state = register(namespaceSerializer, descriptor);
        if (upgradable) {
            state.setMetaInfo(state.metaInfo().withSerializerUpgradesAllowed());
        }
        state.setTtl(descriptor.getTtlConfig());
        AbstractAfterbayState<K, N, V> object =
                (AbstractAfterbayState<K, N, V>) created.get(state.name());
        if (object == null) {
            object = create(state, descriptor);
            created.put(state.name(), object);
        }
        object.update(descriptor);
        return object;
    }

    @SuppressWarnings("unchecked")
    private <N, V> KvState<N, V> register(
            TypeSerializer<N> namespaceSerializer, StateDescriptor<?, V> descriptor)
            throws StateMigrationException {
        KvState<N, V> present = (KvState<N, V>) registry.state(descriptor.getName());
        if (present == null) {
            return registry.addState(
                    new RegisteredKeyValueStateBackendMetaInfo<>(
                            descriptor.getType(),
                            descriptor.getName(),
                            namespaceSerializer,
                            descriptor.getSerializer()));
        }
        updateNamespaceSerializer(present.metaInfo(), namespaceSerializer);
        present.metaInfo().checkStateMetaInfo(descriptor);
        updateValueSerializer(present, descriptor.getSerializer());
        return present;
    }

    private static <N> void updateNamespaceSerializer(
            RegisteredKeyValueStateBackendMetaInfo<N, ?> info, TypeSerializer<N> serializer)
            throws StateMigrationException {
        TypeSerializer<N> previous = info.getNamespaceSerializer();
        TypeSerializerSchemaCompatibility<N> compatibility =
                info.updateNamespaceSerializer(serializer);
        if (compatibility.isCompatibleAfterMigration() || compatibility.isIncompatible()) {
            throw new StateMigrationException(
                    "The new namespace serializer (%s) of state '%s' must be compatible with the old namespace serializer (%s)."
                            .formatted(serializer, info.getName(), previous));
        }
    }

    private <N, V> void updateValueSerializer(KvState<N, V> state, TypeSerializer<V> serializer)
            throws StateMigrationException {
        TypeSerializer<V> previous = state.metaInfo().getStateSerializer();
        TypeSerializerSchemaCompatibility<V> compatibility =
                state.metaInfo().updateStateSerializer(serializer);
        if (compatibility.isIncompatible()) {
            throw new StateMigrationException(
                    "The new state serializer (%s) of state '%s' must not be incompatible with the old state serializer (%s)."
                            .formatted(serializer, state.name(), previous));
        }
        if (compatibility.isCompatibleAfterMigration()) {
            new StateMigration<>(context, state).run();
        }
    }

    @SuppressWarnings("unchecked") // by the descriptor's type
    private <N, V> AbstractAfterbayState<K, N, V> create(
            KvState<N, V> state, StateDescriptor<?, V> descriptor) {
        AbstractAfterbayState<K, N, ?> object =
                switch (descriptor.getType()) {
                    case VALUE -> new AfterbayValueState<>(context, state);
                    case LIST ->
                            new AfterbayListState<>(
                                    context, (KvState<N, List<Object>>) (KvState<N, ?>) state);
                    case MAP ->
                            new AfterbayMapState<>(
                                    context,
                                    (KvState<N, Map<Object, Object>>) (KvState<N, ?>) state);
                    case REDUCING ->
                            new AfterbayReducingState<>(
                                    context, state, (ReducingStateDescriptor<V>) descriptor);
                    case AGGREGATING ->
                            new AfterbayAggregatingState<>(
                                    context,
                                    state,
                                    (AggregatingStateDescriptor<Object, V, Object>) descriptor);
                    default ->
                            throw new UnsupportedOperationException(
                                    "State %s is not supported by the Afterbay backend"
                                            .formatted(descriptor));
                };
        return (AbstractAfterbayState<K, N, V>) object;
    }
}
