package io.afterbay.store.testkit;

import io.afterbay.store.StateKey;
import java.util.Arrays;

/**
 * Key and namespace as an immutable map key; two addresses that split equal bytes elsewhere differ.
 */
@SuppressWarnings("ArrayRecordComponent") // never changed, compared by content
record Address(byte[] bytes, int keyLength) implements Comparable<Address> {
    static Address of(StateKey key) {
        return new Address(Arrays.copyOf(key.bytes(), key.length()), key.keyLength());
    }

    void copyTo(StateKey target, int keyGroup) {
        target.setKey(keyGroup, bytes, 0, keyLength);
        target.setNamespace(bytes, keyLength, bytes.length - keyLength);
    }

    @Override
    public int compareTo(Address other) {
        int order = Arrays.compareUnsigned(bytes, other.bytes);
        return order != 0 ? order : Integer.compare(keyLength, other.keyLength);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Address that
                && keyLength == that.keyLength
                && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(bytes) + keyLength;
    }

    @Override
    public String toString() {
        return Bytes.show(bytes, 0, keyLength)
                + '@'
                + Bytes.show(bytes, keyLength, bytes.length - keyLength);
    }
}
