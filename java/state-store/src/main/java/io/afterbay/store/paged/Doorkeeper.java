package io.afterbay.store.paged;

import java.util.Arrays;

/**
 * Tells keys that come again soon from those that come once (the doorkeeper of TinyLFU: Einziger,
 * Friedman and Manes, ACM Transactions on Storage 2017). One bit for each hash; after an eighth as
 * many keys as bits, when one answer in eight is wrong, it forgets all. A wrong answer only costs.
 */
final class Doorkeeper {
    private static final int BITS_MIN = 1 << 14;

    private final long[] words;
    private int known;
    private long lastHash;
    private boolean lastAnswer;

    /**
     * @param bits a power of two; at least {@value #BITS_MIN} are taken
     */
    Doorkeeper(int bits) {
        words = new long[Math.max(BITS_MIN, bits) / Long.SIZE];
    }

    /**
     * Whether a key has come before. Asked again for the same key at once, it answers the same: the
     * reading and the writing of an entry are one visit.
     */
    boolean hasCome(long hash) {
        if (hash != lastHash) {
            lastHash = hash;
            lastAnswer = note(hash);
        }
        return lastAnswer;
    }

    private boolean note(long hash) {
        int word = (int) (hash >>> 6) & words.length - 1;
        long bit = 1L << hash;
        if ((words[word] & bit) != 0) {
            return true;
        }
        if (known == words.length * (Long.SIZE / 8)) {
            Arrays.fill(words, 0);
            known = 0;
        }
        words[word] |= bit;
        known++;
        return false;
    }
}
