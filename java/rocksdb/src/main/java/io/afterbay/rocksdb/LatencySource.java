package io.afterbay.rocksdb;

/** Where the latency comes from that compactions are weighed against. Called by one thread. */
@FunctionalInterface
public interface LatencySource {
    /**
     * The longest latency of an event since the last call, in nanoseconds; 0 if there was none.
     * Called every 10 ms: must not block.
     */
    long longestNanos();
}
