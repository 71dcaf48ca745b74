package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.bytes;

import io.afterbay.store.StateKey;

/**
 * The keys of a random run, by number: short ones, some that fill a page, and at will some longer
 * than any.
 *
 * @param count of keys
 */
record Keyspace(int count, boolean longKeys, int firstKeyGroup, int lastKeyGroup) {
    private static final int NAMESPACES = 4;

    StateKey key(int number) {
        return key(number, number / 7 % NAMESPACES);
    }

    /** The same key with another namespace: what is merged has one key. */
    StateKey key(int number, int namespace) {
        int id = Math.floorMod(number, count);
        int groups = lastKeyGroup - firstKeyGroup + 1;
        String key = "key-" + id + "-".repeat(padding(id));
        String window = "w" + Math.floorMod(namespace, NAMESPACES);
        return new StateKey()
                .setKey(firstKeyGroup + id % groups, bytes(key))
                .setNamespace(bytes(id % 5 == 0 ? "" : window));
    }

    private int padding(int id) {
        if (longKeys && id % 101 == 3) {
            return 100_000;
        }
        return id % 37 == 2 ? 700 : id % 9;
    }

    Keyspace withKeyGroups(int first, int last) {
        return new Keyspace(count, longKeys, first, last);
    }
}
