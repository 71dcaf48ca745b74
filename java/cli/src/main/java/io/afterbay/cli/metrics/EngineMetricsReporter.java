package io.afterbay.cli.metrics;

import java.util.Properties;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/** Hands the metrics of an engine in this process to {@link EngineMetrics}. */
public final class EngineMetricsReporter implements MetricReporter {
    private final EngineMetrics metrics = EngineMetrics.ofThisProcess();

    private EngineMetricsReporter() {}

    /** For Flink, which finds it as a service. */
    public static final class Factory implements MetricReporterFactory {
        @Override
        public MetricReporter createMetricReporter(Properties properties) {
            return new EngineMetricsReporter();
        }
    }

    @Override
    public void open(MetricConfig config) {}

    @Override
    public void close() {}

    @Override
    public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
        metrics.add(metric, name, group);
    }

    @Override
    public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
        metrics.remove(metric);
    }
}
