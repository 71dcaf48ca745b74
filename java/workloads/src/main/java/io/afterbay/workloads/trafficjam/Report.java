package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.EpochClock;

/**
 * One position report of a car, as far as the job needs it.
 *
 * @param timeS event time in seconds
 * @param car the car
 * @param street the street on which it drives
 * @param speedDms its speed in 0.1 m/s
 * @param stampMicros when the report was read, or by the schedule of {@code --rate} should have
 *     been read: microseconds since the epoch, see {@link EpochClock}
 */
public record Report(long timeS, String car, String street, int speedDms, long stampMicros) {

    /** Length of the tumbling event-time windows. */
    public static final long WINDOW_S = 10;

    /** A report may be this far behind the largest time read before it. */
    public static final long LATENESS_S = 5;

    /** The end of the window of a time: the first multiple of ten seconds above it. */
    public static long windowEndS(long timeS) {
        return (Math.floorDiv(timeS, WINDOW_S) + 1) * WINDOW_S;
    }

    Report at(long newTimeS, String newCar) {
        return new Report(newTimeS, newCar, street, speedDms, stampMicros);
    }

    Report stamped(long micros) {
        return new Report(timeS, car, street, speedDms, micros);
    }
}
