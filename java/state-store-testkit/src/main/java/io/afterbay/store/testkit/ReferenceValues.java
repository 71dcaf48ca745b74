package io.afterbay.store.testkit;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.ValueStore;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

final class ReferenceValues extends ReferenceState<byte[]> implements ValueStore {
    ReferenceValues(ReferenceStore store) {
        super(store);
    }

    @Override
    public boolean get(StateKey key, Slice into) {
        byte[] value = find(key);
        if (value == null) {
            return false;
        }
        into.set(value, 0, value.length);
        return true;
    }

    @Override
    public void put(StateKey key, byte[] value, int offset, int length) {
        set(key, Arrays.copyOfRange(value, offset, offset + length));
    }

    @Override
    public boolean remove(StateKey key) {
        return take(key) != null;
    }

    @Override
    Iterator<Row> rows(int keyGroup, Address address, byte[] value) {
        return List.of(Row.ofValue(keyGroup, address, value)).iterator();
    }

    @Override
    byte[] copy(byte[] value) {
        return value;
    }
}
