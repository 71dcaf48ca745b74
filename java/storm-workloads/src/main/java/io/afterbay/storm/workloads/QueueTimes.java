package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerReport;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * How long tuples that count wait in queues, on average: what queueing theory speaks of, and the
 * figures 3 and 4 of the paper.
 *
 * <p>A wait begins when the sender emits the tuple and ends when {@code execute} of the workload's
 * own bolt begins. So it is the same measure with and without a shared queue: there Storm's thread
 * calls the wrapper, which only puts the tuple into that queue, and the bolt is called later, by
 * whoever takes it out. Latency less service would also have what acks and their queues take. Both
 * ends are of {@link System#nanoTime}: all of a trial is one process.
 *
 * <p>Safe for use by any thread. It is written before the tuple counts as executed, but for the
 * time of the service, which ends behind the ack: of the last tuples that may be missing.
 */
final class QueueTimes {
    private static final double NANOS_PER_MS = 1e6;

    private final StragglerPlan plan;
    private final Schedule schedule;
    private final Mean held = new Mean();
    private final Mean waits = new Mean();
    private final Mean services = new Mean();

    QueueTimes(StragglerPlan plan, Schedule schedule) {
        this.plan = plan;
        this.schedule = schedule;
    }

    private static final class Mean {
        private final LongAdder nanos = new LongAdder();
        private final LongAdder count = new LongAdder();

        private void add(long value) {
            nanos.add(value);
            count.increment();
        }

        private double ms() {
            return nanos.sum() / NANOS_PER_MS / Math.max(1, count.sum());
        }
    }

    private boolean counts(int number) {
        return plan.counts(schedule.dueS(number));
    }

    /** The source emits a tuple, so long after it was due. */
    void held(int number, long nanos) {
        if (counts(number)) {
            held.add(nanos);
        }
    }

    /** A task begins a tuple, so long after its sender has emitted it. */
    void waited(int number, long nanos) {
        if (counts(number)) {
            waits.add(nanos);
        }
    }

    /** A task is free again, so long after it began the tuple. */
    void served(int number, long nanos) {
        if (counts(number)) {
            services.add(nanos);
        }
    }

    /**
     * Null where late tuples are replayed: the second instance of a tuple has the values of the
     * first, and with them the time at which that one was emitted.
     */
    StragglerReport.@Nullable Queueing figures() {
        return Technique.named(plan.senders().technique()) == Technique.REPLAY
                ? null
                : new StragglerReport.Queueing(
                        waits.count.sum(), held.ms(), waits.ms(), services.ms());
    }
}
