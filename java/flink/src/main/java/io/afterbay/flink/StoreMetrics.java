package io.afterbay.flink;

import io.afterbay.flink.state.ObjectTier;
import io.afterbay.maintenance.Kind;
import io.afterbay.maintenance.MaintenanceInstance;
import io.afterbay.maintenance.MaintenanceMetrics;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreStats;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * The figures of a store as gauges of its operator. Only the store's owner may ask for them, so
 * they are sampled by it now and then, and reporters read the last sample. Those of the background
 * work are of the whole process, and the same for all its operators.
 */
final class StoreMetrics {
    /** The group in the operator's metrics. */
    static final String GROUP = "afterbay";

    /** Key changes from sample to sample; a power of two. */
    private static final int SAMPLE_EVERY = 4096;

    private final StateStore store;
    private final ObjectTier objects;
    private volatile StoreStats last;
    private volatile ObjectTier.Stats lastOfObjects;
    private int keyChanges;

    /**
     * @param missingBytes of a restore that goes on; by any thread
     */
    StoreMetrics(
            StateStore store,
            ObjectTier objects,
            MaintenanceInstance maintenance,
            LongSupplier missingBytes,
            MetricGroup group) {
        this.store = store;
        this.objects = objects;
        this.last = store.stats();
        this.lastOfObjects = objects.stats();
        gauge(group, "memoryUsedBytes", StoreStats::memoryBytes);
        gauge(group, "memoryLimitBytes", StoreStats::memoryLimitBytes);
        gauge(group, "diskLiveBytes", StoreStats::diskLiveBytes);
        gauge(group, "diskTotalBytes", StoreStats::diskTotalBytes);
        gauge(group, "diskWrittenBytes", StoreStats::writtenBytes);
        gauge(group, "diskReadBytes", StoreStats::readBytes);
        gauge(group, "compactedBytes", StoreStats::relocatedBytes);
        gauge(group, "pageFaults", StoreStats::pageFaults);
        gauge(group, "pagesReadAhead", StoreStats::pagesReadAhead);
        ratioGauge(group, "readAheadHitRatio", StoreStats::readAheadHitRatio);
        ratioGauge(group, "readAmplification", StoreStats::readAmplification);
        gauge(group, "evictions", StoreStats::evictions);
        gauge(group, "writeStalls", StoreStats::writeStalls);
        gauge(group, "writeStallNanos", StoreStats::writeStallNanos);
        gauge(group, "compactionStalls", StoreStats::compactionStalls);
        gauge(group, "compactionStallNanos", StoreStats::compactionStallNanos);
        group.gauge("restoreMissingBytes", (Gauge<Long>) missingBytes::getAsLong);
        objectGauge(group, "objectHits", ObjectTier.Stats::hits);
        objectGauge(group, "objectMisses", ObjectTier.Stats::misses);
        objectGauge(group, "objectWriteBacks", ObjectTier.Stats::writeBacks);
        processGauge(group, maintenance, "processTasksQueued", m -> sum(m.queued()));
        processGauge(group, maintenance, "processTasksRunning", m -> sum(m.running()));
        processGauge(group, maintenance, "processTasksDelayed", MaintenanceMetrics::delayed);
        processGauge(group, maintenance, "processTasksOverdue", MaintenanceMetrics::stalls);
    }

    private static void processGauge(
            MetricGroup group,
            MaintenanceInstance maintenance,
            String name,
            ToLongFunction<MaintenanceMetrics> figure) {
        group.gauge(name, (Gauge<Long>) () -> figure.applyAsLong(maintenance.processMetrics()));
    }

    private static long sum(Map<Kind, Integer> tasks) {
        return tasks.values().stream().mapToInt(Integer::intValue).sum();
    }

    private void gauge(MetricGroup group, String name, ToLongFunction<StoreStats> figure) {
        group.gauge(name, (Gauge<Long>) () -> figure.applyAsLong(last));
    }

    private void ratioGauge(MetricGroup group, String name, ToDoubleFunction<StoreStats> figure) {
        group.gauge(name, (Gauge<Double>) () -> figure.applyAsDouble(last));
    }

    private void objectGauge(
            MetricGroup group, String name, ToLongFunction<ObjectTier.Stats> figure) {
        group.gauge(name, (Gauge<Long>) () -> figure.applyAsLong(lastOfObjects));
    }

    /** Called by the owner at each change of the key. */
    void keyChanged() {
        if ((++keyChanges & (SAMPLE_EVERY - 1)) == 0) {
            sample();
        }
    }

    /** Called by the owner. */
    void sample() {
        last = store.stats();
        lastOfObjects = objects.stats();
    }
}
