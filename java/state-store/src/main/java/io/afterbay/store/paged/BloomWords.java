package io.afterbay.store.paged;

import io.afterbay.store.page.Memory;

/**
 * The words of an {@link AbsenceFilter}: a key has four bits, all in one of them, so that it costs
 * one cache line. With a key for each byte, one answer in twenty-five is a needless "may be".
 */
final class BloomWords {
    /** There are none: every key may be there. */
    static final BloomWords NONE = new BloomWords();

    private static final long MIX = 0x9e3779b97f4a7c15L;

    private final long address;
    private final int bytes;
    private final int mask;
    private int keys;

    private BloomWords() {
        address = 0;
        bytes = 0;
        mask = 0;
    }

    /**
     * @param address of so many bytes, which this clears
     * @param bytes a power of two, 8 at least
     */
    BloomWords(long address, int bytes) {
        this.address = address;
        this.bytes = bytes;
        mask = bytes / Long.BYTES - 1;
        Memory.zero(address, bytes);
    }

    boolean mayHold(long key) {
        if (bytes == 0) {
            return true;
        }
        long mixed = mix(key);
        long bits = bits(mixed);
        return (Memory.getLong(wordOf(mixed)) & bits) == bits;
    }

    void add(long key) {
        if (bytes == 0) {
            return;
        }
        long mixed = mix(key);
        long bits = bits(mixed);
        long word = wordOf(mixed);
        long before = Memory.getLong(word);
        if ((before & bits) != bits) {
            Memory.putLong(word, before | bits);
            keys++;
        }
    }

    private static long mix(long key) {
        long product = key * MIX;
        return product ^ product >>> 32;
    }

    private long wordOf(long mixed) {
        return address + (mixed >>> 32 & mask) * Long.BYTES;
    }

    /** A shift takes the six lowest bits of its distance. */
    private static long bits(long mixed) {
        return 1L << mixed | 1L << (mixed >>> 6) | 1L << (mixed >>> 12) | 1L << (mixed >>> 18);
    }

    /** As many keys have been added as there are bytes. */
    boolean isFull() {
        return keys >= bytes;
    }

    /** No key has been added to words that are there. */
    boolean isFresh() {
        return bytes > 0 && keys == 0;
    }

    long address() {
        return address;
    }

    int bytes() {
        return bytes;
    }
}
