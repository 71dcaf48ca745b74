package io.afterbay.rocksdb;

import java.util.function.LongSupplier;

/**
 * How late this thread wakes, for bindings that cannot see the latency of events: what keeps a
 * waiting thread off the processors keeps the engine's threads off them as well, and compactions
 * lengthen the tail by taking processors (ShadowSync, section 3). Pauses of the garbage collector
 * count, too; they come at any concurrency.
 */
public final class TimerLateness implements LatencySource {
    private final LongSupplier clock;
    private boolean hasLast;
    private long lastNanos;

    public TimerLateness() {
        this(System::nanoTime);
    }

    TimerLateness(LongSupplier nanoClock) {
        clock = nanoClock;
    }

    @Override
    public long longestNanos() {
        long now = clock.getAsLong();
        long late = hasLast ? now - lastNanos - KneeSampler.PERIOD_NANOS : 0;
        hasLast = true;
        lastNanos = now;
        return Math.max(0, late);
    }
}
