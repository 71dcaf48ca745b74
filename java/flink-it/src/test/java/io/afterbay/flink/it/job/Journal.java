package io.afterbay.flink.it.job;

import java.io.Serializable;

/**
 * The input, computed: posting {@code n} of partition {@code p} is always the same. All times are
 * even.
 *
 * @param partitions read independently, like those of a Kafka topic
 * @param postings of each partition
 */
public record Journal(int partitions, int postings) implements Serializable {
    /** Largest difference between the order and the times of postings, in ms. */
    static final long DISORDER_MILLIS = 40;

    private static final int ACCOUNTS = 200;
    static final int CUSTOMERS = 4_000;
    private static final int AMOUNT_MAX = 1_000;
    private static final long STEP_MILLIS = 10;

    Posting posting(int partition, int n) {
        long random = mix(partition * 1_000_003L + n);
        long jitter = Long.remainderUnsigned(random, DISORDER_MILLIS / 2) * 2;
        return new Posting(
                (int) Long.remainderUnsigned(mix(random), ACCOUNTS),
                (int) Long.remainderUnsigned(mix(random + 1), CUSTOMERS),
                n * STEP_MILLIS + jitter,
                Long.remainderUnsigned(mix(random + 2), AMOUNT_MAX));
    }

    /** The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
    static long mix(long seed) {
        long z = seed + 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
