package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.ValueStore;

final class BrokenValues implements ValueStore {
    private final BrokenStore broken;
    private final ValueStore values;

    BrokenValues(BrokenStore broken, ValueStore values) {
        this.broken = broken;
        this.values = values;
    }

    @Override
    public boolean get(StateKey key, Slice into) {
        boolean found = values.get(key, into);
        if (found && into.length() > 0 && broken.strikes(Defect.FLIPS_BITS)) {
            into.array()[0] ^= 1;
        }
        return found;
    }

    @Override
    public void put(StateKey key, byte[] value, int offset, int length) {
        if (!broken.strikes(Defect.DROPS_PUTS)) {
            values.put(key, value, offset, length);
        }
    }

    @Override
    public boolean remove(StateKey key) {
        return broken.strikes(Defect.FORGETS_REMOVES)
                ? values.get(key, new Slice())
                : values.remove(key);
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        return values.scan(firstKeyGroup, lastKeyGroup);
    }
}
