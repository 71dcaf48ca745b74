package io.afterbay.cli.measure;

import java.time.Duration;

/** Somebody else's job. */
public interface ForeignTarget extends Target {
    /** At most, of one whose events cannot be limited. */
    Duration QUICK = Duration.ofSeconds(20);

    @Override
    default long events() {
        return Long.MAX_VALUE;
    }

    @Override
    default long rampUpEvents() {
        return 0;
    }

    /** The same, measured for so long. */
    Target lasting(Duration duration);

    /** Its events cannot be limited, but its time. */
    @Override
    default Target limitedTo(long events) {
        boolean isShort = !duration().isZero() && duration().compareTo(QUICK) < 0;
        return isShort ? this : lasting(QUICK);
    }

    @Override
    default boolean isForeign() {
        return true;
    }
}
