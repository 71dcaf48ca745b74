package io.afterbay.flink.state;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Objects by key and namespace, in a fixed number of places: sets of {@value #WAYS}, as in a
 * processor's cache, so that a lookup reads one line of hashes and, most times, one entry, nothing
 * is ever rehashed, and an entry that is taken out leaves nothing behind. In its set, an entry that
 * was not used lately makes room for another (the clock algorithm).
 */
final class ObjectTable<K, N, V> {
    static final int WAYS = 8;

    /** Of the function rrmxmx by P. Evensen. */
    private static final long MIX = 0xD6E8FEB86659FD93L;

    private final int setMask;

    /** Of entries; 0 where there is none. */
    private final int[] hashes;

    private final @Nullable ObjectEntry<K, N, V>[] entries;

    /** Where in its set the next search for a victim begins. */
    private int hand;

    /**
     * @param capacity a power of two, at least {@link #WAYS}
     */
    @SuppressWarnings({"unchecked", "rawtypes"})
    ObjectTable(int capacity) {
        setMask = capacity / WAYS - 1;
        hashes = new int[capacity];
        entries = new ObjectEntry[capacity];
    }

    /** A {@code Long} itself, so that it need not be fetched to compare it; else a hash. */
    private static long fingerprint(Object key) {
        return key instanceof Long number ? number : key.hashCode();
    }

    /**
     * Never 0. Mixed twice: after one multiplication, keys that are numbered in sequence would lie
     * in few of the sets.
     */
    private static int hash(long fingerprint, Object namespace) {
        long mixed = fingerprint * 31 + namespace.hashCode();
        mixed = (mixed ^ mixed >>> 32) * MIX;
        mixed = (mixed ^ mixed >>> 32) * MIX;
        return (int) (mixed >>> 32) | Integer.MIN_VALUE;
    }

    private int firstOfSet(int hash) {
        return (hash & setMask) * WAYS;
    }

    @Nullable ObjectEntry<K, N, V> find(K key, N namespace) {
        long fingerprint = fingerprint(key);
        int hash = hash(fingerprint, namespace);
        int first = firstOfSet(hash);
        for (int slot = first; slot < first + WAYS; slot++) {
            ObjectEntry<K, N, V> entry = hashes[slot] == hash ? entries[slot] : null;
            if (entry != null
                    && entry.fingerprint == fingerprint
                    && (key instanceof Long || key.equals(entry.key))
                    && entry.isOf(namespace)) {
                return entry;
            }
        }
        return null;
    }

    /** A free place for a key that is not in the table, or one whose entry has to leave first. */
    ObjectEntry<K, N, V> placeFor(K key, N namespace) {
        int first = firstOfSet(hash(fingerprint(key), namespace));
        for (int slot = first; slot < first + WAYS; slot++) {
            if (hashes[slot] == 0) {
                return entryAt(slot);
            }
        }
        return victim(first);
    }

    private ObjectEntry<K, N, V> entryAt(int slot) {
        ObjectEntry<K, N, V> entry = entries[slot];
        if (entry == null) {
            entry = new ObjectEntry<>(slot);
            entries[slot] = entry;
        }
        return entry;
    }

    private ObjectEntry<K, N, V> victim(int first) {
        while (true) {
            hand = hand + 1 & WAYS - 1;
            ObjectEntry<K, N, V> entry = entryAt(first + hand);
            if (!entry.used) {
                return entry;
            }
            entry.used = false;
        }
    }

    /** Puts an entry into a place that {@link #placeFor} has found and that is free now. */
    void occupy(ObjectEntry<K, N, V> place, K key, N namespace, int keyGroup, boolean stored) {
        long fingerprint = fingerprint(key);
        hashes[place.slot] = hash(fingerprint, namespace);
        place.occupy(key, fingerprint, namespace, keyGroup, stored);
    }

    void vacate(ObjectEntry<K, N, V> entry) {
        hashes[entry.slot] = 0;
        entry.vacate();
    }

    /** Lets go of all objects. */
    void clear() {
        Arrays.fill(hashes, 0);
        Arrays.fill(entries, null);
    }
}
