package io.afterbay.workloads.wordcount;

import java.util.Arrays;
import java.util.TreeMap;

/**
 * An endless stream of words, of which the nth is always the same: the word of rank r comes with a
 * probability in proportion to 1 / r<sup>skew</sup> (Zipf). Immutable; safe for use by any thread.
 */
public final class Words {
    private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;
    private static final double TWO_TO_MINUS_53 = 0x1.0p-53;

    private final long seed;

    /** At r: the probability of a rank up to r. */
    private final double[] cumulative;

    /**
     * @param vocabulary how many words there are, at least 1
     * @param skew 0 for words that are equally frequent; natural languages have about 1
     */
    public Words(long seed, int vocabulary, double skew) {
        if (vocabulary < 1 || !(skew >= 0)) {
            throw new IllegalArgumentException(
                    "a vocabulary is 1 or more and a skew 0 or more, not "
                            + vocabulary
                            + " and "
                            + skew);
        }
        this.seed = seed;
        cumulative = new double[vocabulary];
        double sum = 0;
        for (int rank = 0; rank < vocabulary; rank++) {
            sum += Math.pow(rank + 1, -skew);
            cumulative[rank] = sum;
        }
        for (int rank = 0; rank < vocabulary; rank++) {
            cumulative[rank] /= sum;
        }
    }

    /** The word at a position, from 0. */
    public String at(long position) {
        double random = (mixed(seed + position * GOLDEN_GAMMA) >>> 11) * TWO_TO_MINUS_53;
        int found = Arrays.binarySearch(cumulative, random);
        int rank = found >= 0 ? found + 1 : -found - 1;
        return "word" + Math.min(rank, cumulative.length - 1);
    }

    /** How often each word comes among the first ones. */
    public TreeMap<String, Long> counts(long words) {
        TreeMap<String, Long> counts = new TreeMap<>();
        for (long position = 0; position < words; position++) {
            counts.merge(at(position), 1L, Long::sum);
        }
        return counts;
    }

    /** SplitMix64 (Steele et al., OOPSLA '14): each position has a number of its own. */
    private static long mixed(long value) {
        long mixed = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }
}
