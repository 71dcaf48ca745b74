package io.afterbay.spark.publish;

/** Spreads the bytes of all threads evenly over time. Safe for use by any thread. */
final class Bandwidth {
    /** Bytes are asked for in pieces of at most this. */
    static final int CHUNK_BYTES = 64 << 10;

    private static final long SECOND = 1_000_000_000;

    private final long bytesPerSecondMax;
    private long freeAtNanos;
    private boolean began;

    /**
     * @param bytesPerSecondMax 0 for no limit
     */
    Bandwidth(long bytesPerSecondMax) {
        this.bytesPerSecondMax = bytesPerSecondMax;
    }

    /** Takes a place behind all others, and says how long the caller has to pause for it. */
    synchronized long nanosBefore(int bytes, long now) {
        if (bytesPerSecondMax == 0) {
            return 0;
        }
        if (!began || freeAtNanos - now < 0) {
            began = true;
            freeAtNanos = now;
        }
        long pause = freeAtNanos - now;
        freeAtNanos += bytes * SECOND / bytesPerSecondMax;
        return pause;
    }
}
