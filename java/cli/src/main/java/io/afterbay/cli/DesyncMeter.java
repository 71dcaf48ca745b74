package io.afterbay.cli;

import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.run.LatencyTimeline;
import io.afterbay.workloads.trafficjam.TrafficJamStatistics;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Env;

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
        DesyncMetrics now = Desync.metrics(Env.getDefault());
        counted = now == null ? counted : now;
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
