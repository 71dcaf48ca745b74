package io.afterbay.storm.workloads;

import com.codahale.metrics.MetricRegistry;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.storm.Config;
import org.apache.storm.metrics2.reporters.StormReporter;

/**
 * Hands the metrics of a worker to the run that it works for. Storm makes one in each worker, by
 * the name of this class.
 */
public final class RunMetrics implements StormReporter {
    private static final String RUN = "run";

    /** What is to be added to the configuration of a topology. */
    static Map<String, Object> conf(String run) {
        return Map.of(
                Config.TOPOLOGY_METRICS_REPORTERS,
                List.of(Map.of("class", RunMetrics.class.getName(), RUN, run)));
    }

    @Override
    public void prepare(
            MetricRegistry metrics, Map<String, Object> conf, Map<String, Object> reporterConf) {
        String run = (String) Objects.requireNonNull(reporterConf.get(RUN));
        ReplayWatch.of(run).add(metrics);
    }

    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public void close() {}
}
