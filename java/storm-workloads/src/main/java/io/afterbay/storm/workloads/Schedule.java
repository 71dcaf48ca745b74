package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import java.util.Arrays;
import java.util.Random;

/** When tuples are due: a Poisson process, the same for the same plan. */
final class Schedule {
    private static final double NANOS_PER_S = 1e9;

    private final long[] dueNanos;

    Schedule(StragglerPlan plan) {
        Random random = new Random(plan.seed());
        long[] due = new long[(int) (plan.load().ratePerS() * plan.endS()) + 1];
        int count = 0;
        double atS = exponential(random, plan.load().ratePerS());
        while (atS < plan.endS()) {
            if (count == due.length) {
                due = Arrays.copyOf(due, 2 * count);
            }
            due[count++] = (long) (atS * NANOS_PER_S);
            atS += exponential(random, plan.load().ratePerS());
        }
        dueNanos = Arrays.copyOf(due, count);
    }

    private static double exponential(Random random, double rate) {
        return -Math.log(1 - random.nextDouble()) / rate;
    }

    int tuples() {
        return dueNanos.length;
    }

    /** After the start. */
    long dueNanos(int number) {
        return dueNanos[number];
    }

    double dueS(int number) {
        return dueNanos[number] / NANOS_PER_S;
    }
}
