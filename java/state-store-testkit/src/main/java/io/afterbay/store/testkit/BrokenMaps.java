package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.MapStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;

final class BrokenMaps implements MapStore {
    private final BrokenStore broken;
    private final MapStore maps;

    BrokenMaps(BrokenStore broken, MapStore maps) {
        this.broken = broken;
        this.maps = maps;
    }

    @Override
    public boolean get(StateKey key, byte[] userKey, int length, Slice into) {
        boolean found = maps.get(key, userKey, length, into);
        if (found && into.length() > 0 && broken.strikes(Defect.FLIPS_BITS)) {
            into.array()[0] ^= 1;
        }
        return found;
    }

    @Override
    public boolean contains(StateKey key, byte[] userKey, int length) {
        return maps.contains(key, userKey, length);
    }

    @Override
    public void put(
            StateKey key, byte[] userKey, int userKeyLength, byte[] value, int offset, int length) {
        if (!broken.strikes(Defect.DROPS_PUTS)) {
            maps.put(key, userKey, userKeyLength, value, offset, length);
        }
    }

    @Override
    public boolean remove(StateKey key, byte[] userKey, int length) {
        return broken.strikes(Defect.FORGETS_REMOVES)
                ? maps.contains(key, userKey, length)
                : maps.remove(key, userKey, length);
    }

    @Override
    public EntryCursor entries(StateKey key) {
        return new SkippingCursor(maps.entries(key));
    }

    @Override
    public boolean isEmpty(StateKey key) {
        return maps.isEmpty(key);
    }

    @Override
    public void clear(StateKey key) {
        if (!broken.strikes(Defect.FORGETS_CLEARS)) {
            maps.clear(key);
        }
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        return maps.scan(firstKeyGroup, lastKeyGroup);
    }

    private final class SkippingCursor implements EntryCursor {
        private final EntryCursor cursor;

        SkippingCursor(EntryCursor cursor) {
            this.cursor = cursor;
        }

        @Override
        public boolean next() {
            boolean found = cursor.next();
            return found && broken.strikes(Defect.SKIPS_MAP_ENTRIES) ? cursor.next() : found;
        }

        @Override
        public StateKey key() {
            return cursor.key();
        }

        @Override
        public Slice userKey() {
            return cursor.userKey();
        }

        @Override
        public Slice value() {
            return cursor.value();
        }

        @Override
        public ListReader list() {
            return cursor.list();
        }

        @Override
        public long timestamp() {
            return cursor.timestamp();
        }

        @Override
        public void close() {
            cursor.close();
        }
    }
}
