package io.afterbay.store.testkit;

import io.afterbay.store.StateKey;

/** Key group, key and namespace as an immutable map key. */
record Place(int keyGroup, Address address) implements Comparable<Place> {
    static Place of(StateKey key) {
        return new Place(key.keyGroup(), Address.of(key));
    }

    StateKey toKey() {
        StateKey key = new StateKey();
        address.copyTo(key, keyGroup);
        return key;
    }

    @Override
    public int compareTo(Place other) {
        int order = Integer.compare(keyGroup, other.keyGroup);
        return order != 0 ? order : address.compareTo(other.address);
    }

    @Override
    public String toString() {
        return keyGroup + ":" + address;
    }
}
