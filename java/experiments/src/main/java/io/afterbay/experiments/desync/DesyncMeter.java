package io.afterbay.experiments.desync;

import io.afterbay.cli.measure.Phase;
import io.afterbay.cli.measure.RowMeter;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.run.LatencyTimeline;
import io.afterbay.workloads.trafficjam.TrafficJamStatistics;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Env;
import org.rocksdb.Priority;

/**
 * What happens to each report of an open loop from the end of the ramp-up on. Tasks record; figures
 * are read after {@link #close}.
 */
final class DesyncMeter extends RowMeter implements AutoCloseable {
    private final long rampUpEvents;
    private final LatencyTimeline timeline;
    private volatile boolean isStarted;
    private volatile long maxRankingMicros;
    private volatile @Nullable DesyncMetrics counted;
    private final Map<Integer, Integer> flushThreads = new HashMap<>();
    private final Map<Integer, Integer> compactionThreads = new HashMap<>();

    DesyncMeter(Phase phase, TrafficJamStatistics statistics) {
        this.rampUpEvents = phase.rampUpEvents();
        this.timeline =
                new LatencyTimeline(
                        () -> {
                            countInstances();
                            return ProcessFigures.cpuNanos();
                        },
                        statistics::waiting);
    }

    @Override
    public void accepted(long events) {
        if (!isStarted && events >= rampUpEvents) {
            isStarted = true;
            timeline.start();
        }
    }

    @Override
    public void arrived(long micros) {
        timeline.arrived(micros);
    }

    @Override
    public void result(long micros) {
        if (isStarted) {
            maxRankingMicros = Math.max(maxRankingMicros, micros);
        }
    }

    /** In each window, since they are gone when the job has ended. */
    private void countInstances() {
        Env env = Env.getDefault();
        DesyncMetrics now = Desync.metrics(env);
        counted = now == null ? counted : now;
        if (isStarted) {
            flushThreads.merge(env.getBackgroundThreads(Priority.HIGH), 1, Integer::sum);
            compactionThreads.merge(env.getBackgroundThreads(Priority.LOW), 1, Integer::sum);
        }
    }

    /** How many flushes at once RocksDB was allowed in most windows; null without windows. */
    @Nullable Integer flushThreads() {
        return usual(flushThreads);
    }

    /** The same for compactions, but for windows in which a gate held them. */
    @Nullable Integer compactionThreads() {
        return usual(compactionThreads);
    }

    /** Instances that open or close set numbers of their own for a moment. */
    private static @Nullable Integer usual(Map<Integer, Integer> windows) {
        return windows.entrySet().stream()
                .filter(threads -> threads.getKey() > 0)
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /** What our listeners counted last; null without a cure of ours. */
    @Nullable DesyncMetrics counted() {
        return counted;
    }

    LatencyTimeline timeline() {
        return timeline;
    }

    /** Null without rankings. */
    @Nullable Double maxRankingMs() {
        return maxRankingMicros == 0 ? null : maxRankingMicros / 1e3;
    }

    @Override
    public void close() {
        timeline.close();
    }
}
