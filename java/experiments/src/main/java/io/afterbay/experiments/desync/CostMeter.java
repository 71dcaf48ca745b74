package io.afterbay.experiments.desync;

import io.afterbay.cli.measure.RowMeter;
import io.afterbay.cli.process.ProcessFigures;
import org.jspecify.annotations.Nullable;

/**
 * What events cost while a job runs for a time, whether results come or not. The source's thread
 * writes; figures are read after the job has ended.
 */
final class CostMeter extends RowMeter {
    private static final long EVERY_NANOS = 10_000_000;

    private record Moment(long events, long nanos, long cpuNanos) {}

    private @Nullable Moment first;
    private @Nullable Moment last;

    @Override
    public void accepted(long events) {
        Moment before = last;
        long now = System.nanoTime();
        if (before == null || now - before.nanos >= EVERY_NANOS) {
            last = new Moment(events, now, ProcessFigures.cpuNanos());
            first = before == null ? last : first;
        }
    }

    /** 0 if there were too few events. */
    double eventsPerS() {
        Moment from = first;
        Moment to = last;
        return from == null || to == null || to.nanos == from.nanos
                ? 0
                : (to.events - from.events) * 1e9 / (to.nanos - from.nanos);
    }

    /** Of the whole process; 0 if there were too few events. */
    double cpuUsPerEvent() {
        Moment from = first;
        Moment to = last;
        return from == null || to == null || to.events == from.events
                ? 0
                : (to.cpuNanos - from.cpuNanos) / 1e3 / (to.events - from.events);
    }
}
