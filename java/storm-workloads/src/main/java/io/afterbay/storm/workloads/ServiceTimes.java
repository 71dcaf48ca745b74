package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerPlan.Service;
import java.util.SplittableRandom;

/** How long one task of a trial takes for its tuples; the same for the same plan and seed. */
final class ServiceTimes {
    private static final double NANOS_PER_MS = 1e6;
    private static final double NANOS_PER_S = 1e9;

    /** How long a task stands still that does now and then. */
    static final double PAUSE_MS = 100;

    /** Between pauses on average; at random. */
    static final double PAUSE_EVERY_S = 10;

    private final StragglerPlan.Load load;

    /**
     * Tasks have seeds that follow each other, and this one makes of them what has nothing in
     * common.
     */
    private final SplittableRandom random;

    private double pauseNanos;

    ServiceTimes(StragglerPlan.Load load, long seed) {
        this.load = load;
        this.random = new SplittableRandom(seed);
        this.pauseNanos = exponential() * PAUSE_EVERY_S * NANOS_PER_S;
    }

    /**
     * Of the next tuple.
     *
     * @param elapsedNanos since the start of the trial
     */
    long nextNanos(long elapsedNanos, boolean isSlow) {
        double factor = load.service() == Service.FIXED ? 1 : exponential();
        double nanos = load.serviceMs() * NANOS_PER_MS * factor;
        return (long) (nanos * (isSlow ? load.slowdown() : 1)) + pause(elapsedNanos);
    }

    /** A pause that came while the task had nothing to do is over. */
    private long pause(long elapsedNanos) {
        double untilNanos = elapsedNanos;
        while (load.service() == Service.PAUSES && elapsedNanos >= pauseNanos) {
            untilNanos = Math.max(untilNanos, pauseNanos + PAUSE_MS * NANOS_PER_MS);
            pauseNanos += PAUSE_MS * NANOS_PER_MS + exponential() * PAUSE_EVERY_S * NANOS_PER_S;
        }
        return (long) untilNanos - elapsedNanos;
    }

    private double exponential() {
        return -Math.log(1 - random.nextDouble());
    }
}
