package io.afterbay.flink.state;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The first of three tiers of state, after Samza (VLDB '17): values as objects on the heap, in
 * front of the store with its records off-heap and in files. A hit serialises nothing, neither key
 * nor value.
 *
 * <p>It holds values of single-value states (value, reducing, aggregating) under keys, all of types
 * that {@link ObjectTypes} admits: immutable ones, so that sharing them with the user's code needs
 * no copy and changes no meaning. What was written to an object is <i>dirty</i> until it is written
 * back to the store: when it leaves the tier, when too many are dirty, and before anything looks at
 * the store beside the state itself ({@link #writeBack}): snapshots, scans over keys, migrations.
 *
 * <p>Bounds are per state of an operator instance: a number of entries, of which no value that the
 * store has seen is longer than {@link ObjectCache#VALUE_BYTES_MAX} bytes, and a number of dirty
 * ones.
 *
 * <p>One thread, the owner of the store.
 */
public final class ObjectTier {
    private final ObjectTierSettings settings;
    private final Map<String, ObjectCache<?, ?, ?>> caches = new LinkedHashMap<>();
    private final Counters counters = new Counters();

    public ObjectTier(ObjectTierSettings settings) {
        this.settings = settings;
    }

    /**
     * @param hits lookups that found what they looked for; repeated ones of one key and namespace,
     *     without another in between, count once
     * @param misses lookups that went on to the store
     * @param writeBacks changes that were written to the store later than they were made
     */
    public record Stats(long hits, long misses, long writeBacks) {}

    /** Of all states together. */
    static final class Counters {
        long hits;
        long misses;
        long writeBacks;
    }

    /** A cache for a state that was registered, or registered anew; null if it gets none. */
    <K, N, V> @Nullable ObjectCache<K, N, V> open(AbstractSingleValueState<K, N, V> state) {
        String name = state.state.name();
        caches.remove(name);
        if (!settings.enabled() || !admits(state)) {
            return null;
        }
        ObjectCache<K, N, V> cache = new ObjectCache<>(state, settings, counters);
        caches.put(name, cache);
        return cache;
    }

    private static boolean admits(AbstractSingleValueState<?, ?, ?> state) {
        return ObjectTypes.canBeKeys(state.getKeySerializer())
                && ObjectTypes.canBeKeys(state.getNamespaceSerializer())
                && ObjectTypes.canBeShared(state.getValueSerializer());
    }

    /** The cache of a state; null if it has none. */
    @Nullable ObjectCache<?, ?, ?> of(KvState<?, ?> state) {
        return caches.get(state.name());
    }

    /** Gives the store all that it does not have yet. What is here stays, and is clean. */
    public void writeBack() {
        caches.values().forEach(ObjectCache::writeBack);
    }

    public Stats stats() {
        return new Stats(counters.hits, counters.misses, counters.writeBacks);
    }
}
