package io.afterbay.cli;

import io.afterbay.workloads.run.RunStatistics;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What a job costs as fast as possible, from the end of its ramp-up to its last result. */
final class ClosedLoopMeter extends RowMeter {
    private final long rampUpEvents;
    private volatile @Nullable Moment start;

    ClosedLoopMeter(Phase phase) {
        this.rampUpEvents = phase.rampUpEvents();
    }

    private record Moment(
            long events, long nanos, long cpuNanos, OptionalLong writtenBytes, long gcMillis) {
        private static Moment now(long events) {
            return new Moment(
                    events,
                    System.nanoTime(),
                    ProcessFigures.cpuNanos(),
                    ProcessFigures.writtenBytes(),
                    ProcessFigures.collectorMillis());
        }

        /** Time and CPU end with the last result; what the engine does after it is not the job. */
        private static Moment end(RunStatistics statistics) {
            Moment now = now(statistics.accepted());
            return statistics.lastResultNanos() == 0
                    ? now
                    : new Moment(
                            now.events,
                            statistics.lastResultNanos(),
                            statistics.lastResultCpuNanos(),
                            now.writtenBytes,
                            now.gcMillis);
        }
    }

    /**
     * @param writtenMb null where the system does not tell
     */
    record Figures(
            double eventsPerS, double cpuUsPerEvent, @Nullable Double writtenMb, double gcMs) {}

    @Override
    public void accepted(long events) {
        if (start == null && events >= rampUpEvents) {
            start = Moment.now(events);
        }
    }

    /** After the end of the job; null if it did not get beyond its ramp-up. */
    @Nullable Figures figures(RunStatistics statistics) {
        Moment from = start;
        Moment to = Moment.end(statistics);
        if (from == null || to.events <= from.events || to.nanos <= from.nanos) {
            return null;
        }
        double events = to.events - from.events;
        return new Figures(
                events * 1e9 / (to.nanos - from.nanos),
                (to.cpuNanos - from.cpuNanos) / 1e3 / events,
                writtenMb(from.writtenBytes, to.writtenBytes),
                to.gcMillis - from.gcMillis);
    }

    private static @Nullable Double writtenMb(OptionalLong from, OptionalLong to) {
        return from.isPresent() && to.isPresent()
                ? (to.getAsLong() - from.getAsLong()) / 1e6
                : null;
    }
}
