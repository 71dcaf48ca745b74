package io.afterbay.storm;

import java.util.concurrent.TimeUnit;

/** How long a bolt takes for a tuple, on average of about the last hundred. For any thread. */
final class MeanTime {
    /** A tuple counts for one of so many. */
    private static final int TUPLES = 64;

    private volatile long nanos;

    /** Of two threads that come at the same moment, one may not count. */
    void observe(long tupleNanos) {
        long mean = nanos;
        nanos = mean == 0 ? tupleNanos : mean + (tupleNanos - mean) / TUPLES;
    }

    /** 0 if nothing is known. */
    long nanos() {
        return nanos;
    }

    long micros() {
        return TimeUnit.NANOSECONDS.toMicros(nanos);
    }
}
