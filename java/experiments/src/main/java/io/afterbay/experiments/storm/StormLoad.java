package io.afterbay.experiments.storm;

import java.util.List;

/**
 * How much there usually is to do in a cell.
 *
 * @param service how the times are distributed that a task takes
 * @param servicesPerS of one task, on average: μ
 * @param utilisations of tasks that are not slow, by an even share, in percent
 * @param slowdown how many times as long the slow task takes; 1 without one
 * @param busyPercents shares of the time of this machine's processors that are used up beside
 */
record StormLoad(
        StormService service,
        double servicesPerS,
        List<Integer> utilisations,
        double slowdown,
        List<Integer> busyPercents) {
    private static final double SLOWDOWN = 3;

    /** The paper's (section 5.1.2). */
    private static final double SERVICES_PER_S = 450;

    /** All tasks are alike, and nothing is beside. */
    StormLoad(StormService service, List<Integer> utilisations) {
        this(service, SERVICES_PER_S, utilisations, 1, List.of(0));
    }

    StormLoad withServicesPerS(double other) {
        return new StormLoad(service, other, utilisations, slowdown, busyPercents);
    }

    StormLoad withSlowTask() {
        return new StormLoad(service, servicesPerS, utilisations, SLOWDOWN, busyPercents);
    }

    StormLoad withBusyProcessors(List<Integer> percents) {
        return new StormLoad(service, servicesPerS, utilisations, slowdown, percents);
    }
}
