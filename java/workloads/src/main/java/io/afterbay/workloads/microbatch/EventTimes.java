package io.afterbay.workloads.microbatch;

import java.io.Serializable;

/**
 * When the records of a stream happen, in event time: evenly, so many in a second, from a time that
 * every window begins at.
 *
 * @param recordsPerS at least 1; no two records have the same time
 */
public record EventTimes(int recordsPerS) implements Serializable {
    /** The most records in a second. */
    public static final int RECORDS_PER_S_MAX = 1_000_000;

    /** How much later than the newest record others may be, in the queries. */
    public static final int LATENESS_MS = 1000;

    static final long MICROS_PER_S = 1_000_000;
    static final long MICROS_PER_MS = 1000;

    /** A multiple of all slides and ranges: a Sunday in 2020. */
    static final long START_SECONDS = 1_600_000_020;

    public EventTimes {
        if (recordsPerS < 1 || recordsPerS > RECORDS_PER_S_MAX) {
            throw new IllegalArgumentException(
                    "from 1 to %d records in a second, not %d"
                            .formatted(RECORDS_PER_S_MAX, recordsPerS));
        }
    }

    /** Microseconds since the epoch. */
    public long micros(long number) {
        long seconds = number / recordsPerS;
        long rest = number % recordsPerS;
        return (START_SECONDS + seconds) * MICROS_PER_S + rest * MICROS_PER_S / recordsPerS;
    }

    /** The watermark behind so many records, in microseconds: engines count milliseconds. */
    long watermarkMicros(long records) {
        return records == 0
                ? 0
                : (micros(records - 1) / MICROS_PER_MS - LATENESS_MS) * MICROS_PER_MS;
    }
}
