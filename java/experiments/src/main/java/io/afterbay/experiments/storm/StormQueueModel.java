package io.afterbay.experiments.storm;

import io.afterbay.stragglers.ErlangC;
import org.jspecify.annotations.Nullable;

/**
 * What queueing theory says of a run with one bolt whose tasks are alike, at the rate and the mean
 * service time that the run had: tasks that sleep are late to wake up, and at 95 % load a few
 * hundredths of a millisecond matter.
 *
 * @param tasks c
 * @param perS tuples for all tasks in a second: λ
 * @param serviceMs of a task, on average: 1/μ
 */
record StormQueueModel(int tasks, double perS, double serviceMs) {
    private static final double MS_PER_S = 1000;

    /** Of what a run had; null for other cells, and if the run does not say it. */
    static @Nullable StormQueueModel of(StormTrial run) {
        Double serviceMs = run.waits().meanServiceMs();
        Double perS = perS(run);
        return serviceMs == null || perS == null || !hasModel(run.setting())
                ? null
                : new StormQueueModel(run.setting().tasks(), perS, serviceMs);
    }

    /** One bolt, tasks that are alike, and times that are exponentially distributed. */
    private static boolean hasModel(StormTrial.Setting of) {
        return of.cell().equals(StormCell.QUEUE.label())
                && of.stages() == 1
                && of.service().equals(StormService.EXPONENTIAL.label());
    }

    private static @Nullable Double perS(StormTrial run) {
        return run.shares().perTaskPerS() == null
                ? null
                : Double.valueOf(
                        run.shares().perTaskPerS().get(0).stream()
                                .mapToDouble(Double::doubleValue)
                                .sum());
    }

    /** ρ. */
    double load() {
        return perS * serviceMs / MS_PER_S / tasks;
    }

    /** Mean wait in one queue for all tasks: M/M/c, Erlang C; null with more than they can do. */
    @Nullable Double oneQueueMs() {
        return waitMs(tasks, perS);
    }

    /** Mean wait if each task has a queue, and a tuple goes to any of them: M/M/1. */
    @Nullable Double queueEachMs() {
        return waitMs(1, perS / tasks);
    }

    private @Nullable Double waitMs(int servers, double arrivalsPerS) {
        return load() < 1
                ? Double.valueOf(
                        MS_PER_S
                                * ErlangC.meanWaitSeconds(
                                        servers, arrivalsPerS, MS_PER_S / serviceMs))
                : null;
    }
}
