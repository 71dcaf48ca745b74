package io.afterbay.flink.state;

import io.afterbay.store.StateKey;
import io.afterbay.store.ValueStore;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.jspecify.annotations.Nullable;

/**
 * The objects of one state in the {@link ObjectTier}.
 *
 * <p>An entry stands for what the state has under a key and namespace, a value or none. That none
 * is there is known too: a window whose entry was created, folded into and cleared here never
 * reaches the store.
 *
 * <p>Dirty entries wait in a queue of fixed length. When it is full the oldest one leaves it and is
 * written back; if it was written to meanwhile, it is put behind the others instead, as long as
 * that happens to no more than {@link #SECOND_CHANCES_MAX} of them at a time.
 *
 * <p>State of which more is in use than fits goes through the cache without being met again, or is
 * written back between two writes, and costs more here than without. So after each {@link
 * #TRIAL_LOOKUPS}, a cache that has found less than half of what it looked for, or has written back
 * more than one entry for {@link #HITS_PER_WRITE_BACK} that it found, rests for {@link
 * #REST_ACCESSES}: it is empty, and all goes to the store.
 */
final class ObjectCache<K, N, V> {
    /** Longer values, serialised, are not kept. */
    static final int VALUE_BYTES_MAX = 1024;

    private static final int SECOND_CHANCES_MAX = 8;
    private static final int TRIAL_LOOKUPS = 1 << 16;
    private static final int HITS_PER_WRITE_BACK = 8;
    private static final int REST_ACCESSES = 1 << 21;

    private final AbstractSingleValueState<K, N, V> state;
    private final CurrentKey<K> currentKey;
    private final ValueStore values;
    private final TypeSerializer<K> keySerializer;
    private final TypeSerializer<N> namespaceSerializer;
    private final TypeSerializer<V> valueSerializer;
    private final boolean valuesAreShort;
    private final ValueForm form;
    private final ObjectTier.Counters counters;
    private final ObjectTable<K, N, V> table;
    private final DirtyQueue<K, N, V> queue;
    private final StateKey home = new StateKey();
    private final DataOutputSerializer out = new DataOutputSerializer(128);

    /** What was looked up last, under this version of the current key; null: not known. */
    private @Nullable ObjectEntry<K, N, V> last;

    private long lastVersion;

    private int trialLookups;
    private int trialHits;
    private int trialWriteBacks;
    private int restAccesses;

    /**
     * @param state the first that has these serializers; a migration or another serializer ends the
     *     use of this cache
     */
    ObjectCache(
            AbstractSingleValueState<K, N, V> state,
            ObjectTierSettings settings,
            ObjectTier.Counters counters) {
        this.state = state;
        this.currentKey = state.currentKey();
        this.values = state.store().values(state.state.storeName());
        this.keySerializer = state.getKeySerializer();
        this.namespaceSerializer = state.getNamespaceSerializer();
        this.valueSerializer = state.getValueSerializer();
        this.form = ValueForm.of(valueSerializer);
        int length = valueSerializer.getLength();
        this.valuesAreShort = length >= 0 && length <= VALUE_BYTES_MAX;
        this.counters = counters;
        int atLeast = Math.max(settings.entries(), ObjectTierSettings.ENTRIES_MIN);
        this.table = new ObjectTable<>(Integer.highestOneBit(2 * atLeast - 1));
        this.queue = new DirtyQueue<>(settings.dirtyEntries());
    }

    /** The value of the current key in a namespace; null if there is none. */
    @Nullable V read(N namespace) {
        if (isResting()) {
            return state.readStored();
        }
        ObjectEntry<K, N, V> entry = find(namespace);
        return entry == null ? load(namespace) : form.get(entry);
    }

    void write(N namespace, V value) {
        if (isResting()) {
            state.writeStored(value);
            return;
        }
        ObjectEntry<K, N, V> entry = find(namespace);
        if (entry != null && (valuesAreShort || entry.stored)) {
            form.set(entry, value);
            changed(entry);
        } else {
            writeNew(entry, namespace, value);
        }
    }

    void clear(N namespace) {
        ObjectEntry<K, N, V> entry = isResting() ? null : find(namespace);
        if (entry == null) {
            state.removeStored();
        } else if (entry.stored) {
            form.set(entry, null);
            changed(entry);
        } else {
            vacate(entry);
        }
    }

    private boolean isResting() {
        if (trialLookups >= TRIAL_LOOKUPS) {
            endTrial();
        }
        if (restAccesses == 0) {
            return false;
        }
        restAccesses--;
        return true;
    }

    private @Nullable ObjectEntry<K, N, V> find(N namespace) {
        ObjectEntry<K, N, V> known = last;
        if (known != null && lastVersion == currentKey.version() && known.isOf(namespace)) {
            return known;
        }
        ObjectEntry<K, N, V> found = table.find(currentKey.get(), namespace);
        count(found != null);
        if (found != null) {
            found.used = true;
            remember(found);
        }
        return found;
    }

    private void remember(@Nullable ObjectEntry<K, N, V> entry) {
        last = entry;
        lastVersion = currentKey.version();
    }

    private void count(boolean hit) {
        trialLookups++;
        if (hit) {
            counters.hits++;
            trialHits++;
        } else {
            counters.misses++;
        }
    }

    private @Nullable V load(N namespace) {
        V value = state.readStored();
        if (value == null || state.readLength() <= VALUE_BYTES_MAX) {
            insert(namespace, value, value != null);
        }
        return value;
    }

    /** A value of unknown length is measured, by writing it to the store, before it is kept. */
    private void writeNew(@Nullable ObjectEntry<K, N, V> known, N namespace, V value) {
        if (valuesAreShort) {
            changed(insert(namespace, value, true));
            return;
        }
        boolean isShort = state.writeStored(value) <= VALUE_BYTES_MAX;
        if (known == null) {
            if (isShort) {
                insert(namespace, value, true);
            }
        } else if (isShort) {
            form.set(known, value);
            known.stored = true;
        } else {
            vacate(known);
        }
    }

    private ObjectEntry<K, N, V> insert(N namespace, @Nullable V value, boolean stored) {
        K key = currentKey.get();
        ObjectEntry<K, N, V> place = table.placeFor(key, namespace);
        if (place.dirty) {
            writeBack(place);
        }
        table.occupy(place, key, namespace, currentKey.keyGroup(), stored);
        form.set(place, value);
        remember(place);
        return place;
    }

    private void changed(ObjectEntry<K, N, V> entry) {
        entry.hot = entry.dirty;
        entry.dirty = true;
        if (!entry.queued) {
            makeRoom();
            queue.add(entry);
        }
    }

    private void makeRoom() {
        int chances = SECOND_CHANCES_MAX;
        while (queue.isFull()) {
            ObjectEntry<K, N, V> oldest = queue.poll();
            if (oldest.dirty && oldest.hot && chances-- > 0) {
                oldest.hot = false;
                queue.add(oldest);
            } else if (oldest.dirty) {
                writeBack(oldest);
            }
        }
    }

    /** Gives the store all that it does not have yet. */
    void writeBack() {
        if (queue.isEmpty()) {
            return;
        }
        while (!queue.isEmpty()) {
            ObjectEntry<K, N, V> oldest = queue.poll();
            if (oldest.dirty) {
                writeBack(oldest);
            }
        }
    }

    private void writeBack(ObjectEntry<K, N, V> entry) {
        counters.writeBacks++;
        trialWriteBacks++;
        try {
            boolean isShort = writeHome(entry) <= VALUE_BYTES_MAX;
            entry.stored = entry.present;
            entry.dirty = false;
            if (!isShort) {
                vacate(entry);
            }
        } catch (IOException e) {
            throw state.failed("serialise an entry of", e);
        }
    }

    /** Returns the length of the value. */
    private int writeHome(ObjectEntry<K, N, V> entry) throws IOException {
        setHome(entry);
        V value = form.get(entry);
        if (value == null) {
            values.remove(home);
            return 0;
        }
        out.clear();
        valueSerializer.serialize(value, out);
        values.put(home, out.getSharedBuffer(), 0, out.length());
        return out.length();
    }

    private void setHome(ObjectEntry<K, N, V> entry) throws IOException {
        if (entry.key == null || entry.namespace == null) {
            throw new IllegalStateException("a free entry is dirty in " + state.state.name());
        }
        out.clear();
        keySerializer.serialize(entry.key, out);
        int keyLength = out.length();
        namespaceSerializer.serialize(entry.namespace, out);
        byte[] bytes = out.getSharedBuffer();
        home.setKey(entry.keyGroup, bytes, 0, keyLength);
        home.setNamespace(bytes, keyLength, out.length() - keyLength);
    }

    private void vacate(ObjectEntry<K, N, V> entry) {
        table.vacate(entry);
        last = null;
    }

    private void endTrial() {
        if (trialHits < trialLookups / 2 || trialHits / HITS_PER_WRITE_BACK < trialWriteBacks) {
            rest();
        }
        trialLookups = 0;
        trialHits = 0;
        trialWriteBacks = 0;
    }

    private void rest() {
        writeBack();
        table.clear();
        last = null;
        restAccesses = REST_ACCESSES;
    }

    /**
     * The value under a key and namespace as the store would have it, for a thread that keeps the
     * owner out meanwhile; so it changes nothing here. Null if this cache does not know.
     */
    @Nullable Known<V> peek(K key, N namespace) {
        ObjectEntry<K, N, V> entry = table.find(key, namespace);
        return entry == null ? null : new Known<>(form.get(entry));
    }

    /** What is known about a key and namespace: a value, or that there is none. */
    record Known<V>(@Nullable V value) {}

    /**
     * Before a stored value that has expired is removed: forgets it as well.
     *
     * @return whether the store's value may go; false if this cache has another one
     */
    boolean forgetExpired(StateKey at) {
        try {
            DataInputDeserializer in = new DataInputDeserializer(at.bytes(), 0, at.length());
            K key = keySerializer.deserialize(in);
            ObjectEntry<K, N, V> entry = table.find(key, namespaceSerializer.deserialize(in));
            if (entry == null) {
                return true;
            }
            if (!entry.dirty) {
                vacate(entry);
            }
            return !entry.dirty;
        } catch (IOException e) {
            throw state.failed("deserialise the key of an expired entry of", e);
        }
    }
}
