package io.afterbay.flink.state;

import io.afterbay.store.StateStore;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/**
 * What every state of one keyed backend shares.
 *
 * @param objects values that the store does not have yet, among others
 * @param ttlTime the clock of states with a time to live
 */
public record StateContext<K>(
        StateStore store,
        ObjectTier objects,
        AccessGate gate,
        CurrentKey<K> currentKey,
        TypeSerializer<K> keySerializer,
        KeyGroupRange keyGroups,
        int totalKeyGroups,
        TtlTimeProvider ttlTime,
        StateRegistry registry) {}
