package io.afterbay.stragglers;

import java.util.function.LongSupplier;

/** A clock that stands still until a test moves it. */
final class ManualClock implements LongSupplier {
    volatile long now;

    @Override
    public long getAsLong() {
        return now;
    }

    void advance(long nanos) {
        now += nanos;
    }
}
