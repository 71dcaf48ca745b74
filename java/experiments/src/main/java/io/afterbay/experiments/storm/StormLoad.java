package io.afterbay.experiments.storm;

import java.util.List;

/**
 * How much there usually is to do in a cell.
 *
 * @param service how the times are distributed that a task takes
 * @param utilisations of tasks that are not slow, by an even share, in percent
 * @param slowdown how many times as long the slow task takes; 1 without one
 * @param busyPercents shares of the time of this machine's processors that are used up beside
 */
record StormLoad(
        StormService service,
        List<Integer> utilisations,
        double slowdown,
        List<Integer> busyPercents) {
    private static final double SLOWDOWN = 3;

    /** All tasks are alike, and nothing is beside. */
    StormLoad(StormService service, List<Integer> utilisations) {
        this(service, utilisations, 1, List.of(0));
    }

    StormLoad withSlowTask() {
        return new StormLoad(service, utilisations, SLOWDOWN, busyPercents);
    }

    StormLoad withBusyProcessors(List<Integer> percents) {
        return new StormLoad(service, utilisations, slowdown, percents);
    }
}
