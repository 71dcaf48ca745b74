package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.MapStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

final class ReferenceMaps extends ReferenceState<Map<Bytes, byte[]>> implements MapStore {
    ReferenceMaps(ReferenceStore store) {
        super(store);
    }

    @Override
    public boolean get(StateKey key, byte[] userKey, int length, Slice into) {
        byte[] value = entriesOf(key).get(Bytes.of(userKey, 0, length));
        if (value == null) {
            return false;
        }
        into.set(value, 0, value.length);
        return true;
    }

    @Override
    public boolean contains(StateKey key, byte[] userKey, int length) {
        return entriesOf(key).containsKey(Bytes.of(userKey, 0, length));
    }

    @Override
    public void put(
            StateKey key, byte[] userKey, int userKeyLength, byte[] value, int offset, int length) {
        findOrAdd(key, HashMap::new)
                .put(
                        Bytes.of(userKey, 0, userKeyLength),
                        Arrays.copyOfRange(value, offset, offset + length));
    }

    @Override
    public boolean remove(StateKey key, byte[] userKey, int length) {
        Map<Bytes, byte[]> entries = entriesOf(key);
        boolean existed = entries.remove(Bytes.of(userKey, 0, length)) != null;
        if (existed && entries.isEmpty()) {
            take(key);
        }
        return existed;
    }

    @Override
    public EntryCursor entries(StateKey key) {
        Iterator<Row> rows = rows(key.keyGroup(), Address.of(key), entriesOf(key));
        return new ReferenceCursor(rows, store()::isOpen);
    }

    @Override
    public boolean isEmpty(StateKey key) {
        return entriesOf(key).isEmpty();
    }

    /** Empties the entries too, for the cursors that stand in them. */
    @Override
    public void clear(StateKey key) {
        Map<Bytes, byte[]> entries = take(key);
        if (entries != null) {
            entries.clear();
        }
    }

    private Map<Bytes, byte[]> entriesOf(StateKey key) {
        Map<Bytes, byte[]> entries = find(key);
        return entries == null ? Collections.emptyMap() : entries;
    }

    @Override
    Iterator<Row> rows(int keyGroup, Address address, Map<Bytes, byte[]> entries) {
        Iterator<Bytes> userKeys = List.copyOf(entries.keySet()).iterator();
        return new Concatenation<>(
                userKeys, userKey -> row(keyGroup, address, userKey, entries.get(userKey)));
    }

    private static Iterator<Row> row(
            int keyGroup, Address address, Bytes userKey, byte @Nullable [] value) {
        return value == null
                ? Collections.emptyIterator()
                : List.of(Row.ofMapEntry(keyGroup, address, userKey, value)).iterator();
    }

    @Override
    Map<Bytes, byte[]> copy(Map<Bytes, byte[]> entries) {
        return new HashMap<>(entries);
    }
}
