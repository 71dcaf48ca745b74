package io.afterbay.flink.state;

import org.jspecify.annotations.Nullable;

/** A place in an {@link ObjectTable}; reused for one key and namespace after the other. */
final class ObjectEntry<K, N, V> {
    final int slot;
    @Nullable K key;

    /** See {@link ObjectTable#fingerprint}. */
    long fingerprint;

    @Nullable N namespace;
    int keyGroup;

    /** Whether it stands for a value; else for there being none. */
    boolean present;

    /** The value, if its {@link ValueForm} is an object. */
    @Nullable V value;

    /** The value, if its {@link ValueForm} is a number. */
    long number;

    /** Whether the store has, or may have, a value for this key and namespace. */
    boolean stored;

    /** Whether the store has another value than this, or the other way round none. */
    boolean dirty;

    /** Whether it was used since the table last looked for a place. */
    boolean used;

    /** Whether it is in the queue of what is to be written back. */
    boolean queued;

    /** Whether it was written to since it came into the queue. */
    boolean hot;

    ObjectEntry(int slot) {
        this.slot = slot;
    }

    boolean isOf(N otherNamespace) {
        return namespace == otherNamespace || otherNamespace.equals(namespace);
    }

    void occupy(K newKey, long itsFingerprint, N newNamespace, int itsKeyGroup, boolean isStored) {
        key = newKey;
        fingerprint = itsFingerprint;
        namespace = newNamespace;
        keyGroup = itsKeyGroup;
        stored = isStored;
        dirty = false;
        used = true;
    }

    /** Still queued if it was, so that it is never in the queue twice. */
    void vacate() {
        key = null;
        namespace = null;
        value = null;
        present = false;
        dirty = false;
        used = false;
    }
}
