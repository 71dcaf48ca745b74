package io.afterbay.cli;

import io.afterbay.workloads.run.RunStatistics;
import org.jspecify.annotations.Nullable;

/** What a job costs as fast as possible, from the end of its ramp-up to its last result. */
final class ClosedLoopMeter extends RowMeter {
    private final long rampUpEvents;
    private volatile @Nullable LoopMoment start;

    ClosedLoopMeter(Phase phase) {
        this.rampUpEvents = phase.rampUpEvents();
    }

    @Override
    public void accepted(long events) {
        if (start == null && events >= rampUpEvents) {
            start = LoopMoment.now(events);
        }
    }

    /** Short jobs end between two samples, and their threads with them. */
    @Override
    public void ended() {
        var unused = ThreadTimes.now();
    }

    /** After the end of the job; null if it did not get beyond its ramp-up. */
    @Nullable LoopFigures figures(RunStatistics statistics) {
        LoopMoment from = start;
        return from == null ? null : from.until(LoopMoment.end(statistics));
    }
}
