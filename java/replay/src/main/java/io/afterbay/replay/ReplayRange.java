package io.afterbay.replay;

import java.io.Serializable;
import java.time.Instant;

/**
 * What is replayed: from a time, inclusive, to a time, exclusive, of the log that is read (see
 * {@link ReplayGraph} for what that is for each kind of source).
 *
 * @param fromMs milliseconds since 1970
 * @param toMs milliseconds since 1970
 */
public record ReplayRange(long fromMs, long toMs) implements Serializable {
    /**
     * @throws IllegalArgumentException unless it begins before it ends
     */
    public ReplayRange {
        if (fromMs >= toMs) {
            throw new IllegalArgumentException(
                    "a replay from %s to %s has nothing in it: it must begin before it ends"
                            .formatted(Instant.ofEpochMilli(fromMs), Instant.ofEpochMilli(toMs)));
        }
    }

    boolean contains(long timeMs) {
        return fromMs <= timeMs && timeMs < toMs;
    }

    /** The next time that is in the range or at its end. */
    long nearest(long timeMs) {
        return Math.max(fromMs, Math.min(toMs, timeMs));
    }

    @Override
    public String toString() {
        return "[" + Instant.ofEpochMilli(fromMs) + ", " + Instant.ofEpochMilli(toMs) + ")";
    }
}
