package io.afterbay.storm;

import io.afterbay.stragglers.ReplayBudget;
import java.util.function.LongSupplier;

/**
 * Tells a budget once a second how busy the system is. For the thread of the spout's task, but what
 * was told last for any.
 */
final class LoadWatch {
    private static final long PERIOD_NANOS = 1_000_000_000L;

    private final ReplayBudget budget;
    private final QueueUtilisation utilisation;
    private final ProcessorLoad processorLoad;
    private final LongSupplier nanoClock;
    private long lookedNanos;
    private volatile double queues = Double.NaN;
    private volatile double processors = Double.NaN;

    LoadWatch(
            ReplayBudget budget,
            QueueUtilisation utilisation,
            ProcessorLoad processorLoad,
            LongSupplier nanoClock) {
        this.budget = budget;
        this.utilisation = utilisation;
        this.processorLoad = processorLoad;
        this.nanoClock = nanoClock;
        this.lookedNanos = nanoClock.getAsLong();
    }

    void lookIfDue() {
        long now = nanoClock.getAsLong();
        if (now - lookedNanos >= PERIOD_NANOS) {
            lookedNanos = now;
            queues = utilisation.sinceLast(now);
            processors = processorLoad.share();
            budget.utilisation(queues, processors);
        }
    }

    /** ρ of the busiest queue on the way, from 0 to 1; NaN if it is not known. */
    double queues() {
        return queues;
    }

    /** From 0 to 1; NaN if it is not known. */
    double processors() {
        return processors;
    }
}
