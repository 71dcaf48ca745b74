package io.afterbay.spark.publish;

/**
 * How a {@link Publisher} works.
 *
 * @param threads files written at once, 1 or more
 * @param entriesMax files that may wait in a {@link Room}, 1 or more
 * @param bytesMax bytes of them, 1 or more; a file above it waits alone
 * @param waitNanosMax the longest that a caller waits for room or for a file to be published, above
 *     0
 * @param attemptsMax writes of a file before the publisher fails, 1 or more
 * @param hangNanosMax the longest time in which a write may read nothing of its local copy, above 0
 * @param backoff between attempts
 * @param bytesPerSecondMax of all {@link Publisher}s that share a {@link Bandwidth}, at least 64
 *     KiB for each thread of one, a piece of each file in a second; 0 for no limit
 * @param hedgedPercentMax of all writes, how many are begun a second time because they take
 *     unusually long, 0 (none) to 100
 */
public record PublishSettings(
        int threads,
        int entriesMax,
        long bytesMax,
        long waitNanosMax,
        int attemptsMax,
        long hangNanosMax,
        Backoff backoff,
        long bytesPerSecondMax,
        int hedgedPercentMax) {
    private static final long SECOND = 1_000_000_000;
    private static final int PERCENT = 100;

    public PublishSettings {
        atLeastOne("threads", threads);
        atLeastOne("entriesMax", entriesMax);
        atLeastOne("bytesMax", bytesMax);
        atLeastOne("waitNanosMax", waitNanosMax);
        atLeastOne("attemptsMax", attemptsMax);
        atLeastOne("hangNanosMax", hangNanosMax);
        if (hedgedPercentMax < 0 || hedgedPercentMax > PERCENT) {
            throw new IllegalArgumentException(
                    "hedgedPercentMax must be from 0 to 100, not " + hedgedPercentMax);
        }
        long leastBytes = (long) Bandwidth.CHUNK_BYTES * threads;
        if (bytesPerSecondMax != 0 && bytesPerSecondMax < leastBytes) {
            throw new IllegalArgumentException(
                    "bytesPerSecondMax must be 0 (no limit) or at least "
                            + leastBytes
                            + " ("
                            + Bandwidth.CHUNK_BYTES
                            + " for each thread), not "
                            + bytesPerSecondMax);
        }
    }

    /** As large as they say, and not used yet. */
    public ProcessLimits limits() {
        return new ProcessLimits(new Room(entriesMax, bytesMax), new Bandwidth(bytesPerSecondMax));
    }

    private static void atLeastOne(String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be 1 or more, not " + value);
        }
    }

    /**
     * 16 threads, since each mostly waits for the storage and a batch has two files for each
     * partition; 1,000 files or 256 MiB waiting, 8 attempts; 120 s until callers give up; a tenth
     * of the writes may be hedged.
     */
    public static PublishSettings defaults() {
        return new PublishSettings(
                16,
                1_000,
                256L << 20,
                120 * SECOND,
                8,
                20 * SECOND,
                new Backoff(SECOND / 20, 5 * SECOND),
                0,
                10);
    }
}
