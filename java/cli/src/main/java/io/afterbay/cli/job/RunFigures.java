package io.afterbay.cli.job;

import io.afterbay.cli.engine.EngineFigures;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.workloads.run.RunStatistics;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The figures of a run at one moment. Time, CPU, bytes and collections count from the first event:
 * the start of the engine is not the job's. Time and CPU end with the last result.
 */
public record RunFigures(
        long events,
        double elapsedSeconds,
        double cpuSeconds,
        Histogram latencyMicros,
        Histogram delayMicros,
        OptionalLong peakResidentBytes,
        OptionalLong writtenBytes,
        long collectorMillis,
        EngineFigures engine) {

    /** The figures now, or, if the job has done all its work, those at its last result. */
    public static RunFigures take(
            RunStatistics statistics, Baseline baseline, EngineFigures engine, boolean finished) {
        boolean atResult = finished && statistics.lastResultNanos() != 0;
        long endNanos = atResult ? statistics.lastResultNanos() : System.nanoTime();
        long endCpuNanos = atResult ? statistics.lastResultCpuNanos() : ProcessFigures.cpuNanos();
        boolean started = statistics.firstEventNanos() != 0;
        return new RunFigures(
                statistics.accepted(),
                started ? seconds(endNanos - statistics.firstEventNanos()) : 0,
                started ? seconds(endCpuNanos - statistics.firstEventCpuNanos()) : 0,
                statistics.latencyMicros(),
                statistics.delayMicros(),
                ProcessFigures.peakResidentBytes(),
                baseline.writtenSince(ProcessFigures.writtenBytes()),
                ProcessFigures.collectorMillis() - baseline.collectorMillis(),
                engine);
    }

    /** What the process had done before the first event. */
    public record Baseline(OptionalLong writtenBytes, long collectorMillis) {
        public static Baseline take() {
            return new Baseline(ProcessFigures.writtenBytes(), ProcessFigures.collectorMillis());
        }

        private OptionalLong writtenSince(OptionalLong now) {
            return now.isPresent() && writtenBytes.isPresent()
                    ? OptionalLong.of(now.getAsLong() - writtenBytes.getAsLong())
                    : OptionalLong.empty();
        }
    }

    private static double seconds(long nanos) {
        return (double) nanos / TimeUnit.SECONDS.toNanos(1);
    }

    double eventsPerSecond() {
        return elapsedSeconds > 0 ? events / elapsedSeconds : 0;
    }

    double cpuMicrosPerEvent() {
        return events > 0 ? cpuSeconds * 1e6 / events : 0;
    }
}
