package io.afterbay.cli.measure;

import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.workloads.run.RunStatistics;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A moment of a run in this process: what has been done until then, and what it took. */
public record LoopMoment(
        long events,
        long nanos,
        long cpuNanos,
        ThreadTimes threads,
        OptionalLong writtenBytes,
        long gcMillis) {

    public static LoopMoment now(long events) {
        return new LoopMoment(
                events,
                System.nanoTime(),
                ProcessFigures.cpuNanos(),
                ThreadTimes.now(),
                ProcessFigures.writtenBytes(),
                ProcessFigures.collectorMillis());
    }

    /** Time and CPU end with the last result; what the engine does after it is not the job. */
    static LoopMoment end(RunStatistics statistics) {
        LoopMoment now = now(statistics.accepted());
        return statistics.lastResultNanos() == 0
                ? now
                : new LoopMoment(
                        now.events,
                        statistics.lastResultNanos(),
                        statistics.lastResultCpuNanos(),
                        now.threads,
                        now.writtenBytes,
                        now.gcMillis);
    }

    /** What happened from this moment to a later one; null if no event came. */
    public @Nullable LoopFigures until(LoopMoment to) {
        if (to.events <= events || to.nanos <= nanos) {
            return null;
        }
        double count = to.events - events;
        return new LoopFigures(
                count * 1e9 / (to.nanos - nanos),
                (to.cpuNanos - cpuNanos) / 1e3 / count,
                (to.threads.taskNanos() - threads.taskNanos()) / 1e3 / count,
                (to.threads.backgroundNanos() - threads.backgroundNanos()) / 1e3 / count,
                null,
                megabytes(writtenBytes, to.writtenBytes),
                to.gcMillis - gcMillis);
    }

    private static @Nullable Double megabytes(OptionalLong from, OptionalLong to) {
        return from.isPresent() && to.isPresent()
                ? (to.getAsLong() - from.getAsLong()) / 1e6
                : null;
    }
}
