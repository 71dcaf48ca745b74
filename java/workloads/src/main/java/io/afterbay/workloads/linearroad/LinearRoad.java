package io.afterbay.workloads.linearroad;

import io.afterbay.workloads.run.Draws;
import java.io.Serializable;

/**
 * The stream of position reports as a function of the number of the report. There are as many
 * vehicles as report once in 30 s on average; some report more often than others, so that a join on
 * the vehicle has hot keys. Some highways are busier than others, and every fourth report comes
 * from the jam of the moment, which moves a segment per thousand reports.
 *
 * <p>It has the fields of the Linear Road benchmark, and not its input: nobody drives from segment
 * to segment here.
 */
public record LinearRoad(Draws draws, int vehicles) implements Serializable {
    /** Between two reports of a vehicle, on average. */
    public static final int SECONDS_BETWEEN_REPORTS = 30;

    static final int HIGHWAYS = 20;
    static final int SEGMENTS = 100;
    static final int JAM_EVERY = 4;

    private static final int LANES = 5;
    private static final int DIRECTIONS = 2;
    private static final int SPEED_MAX = 100;
    private static final int SPEED_MAX_IN_JAM = 15;
    private static final long REPORTS_PER_JAMMED_SEGMENT = 1000;

    /** So many vehicles as make so many reports in a second. */
    public static LinearRoad at(long seed, int reportsPerS) {
        return new LinearRoad(
                new Draws(seed), Math.multiplyExact(reportsPerS, SECONDS_BETWEEN_REPORTS));
    }

    /** The report of that number, from 0. */
    public PositionReport report(long number) {
        boolean isJam = isInJam(number);
        int segment = isJam ? jammedSegment(number) : draws.below(number, 1, SEGMENTS);
        return new PositionReport(
                draws.slightlySkewed(number, 2, vehicles),
                draws.below(number, 3, isJam ? SPEED_MAX_IN_JAM : SPEED_MAX),
                isJam ? 0 : draws.skewed(number, 4, HIGHWAYS),
                draws.below(number, 5, LANES),
                draws.below(number, 6, DIRECTIONS),
                segment * PositionReport.FEET_PER_SEGMENT
                        + draws.below(number, 7, PositionReport.FEET_PER_SEGMENT));
    }

    boolean isInJam(long number) {
        return draws.below(number, 0, JAM_EVERY) == 0;
    }

    static int jammedSegment(long number) {
        return (int) (number / REPORTS_PER_JAMMED_SEGMENT % SEGMENTS);
    }
}
