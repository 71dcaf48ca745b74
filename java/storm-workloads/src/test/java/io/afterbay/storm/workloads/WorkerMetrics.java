package io.afterbay.storm.workloads;

import com.codahale.metrics.MetricRegistry;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.storm.Config;
import org.apache.storm.metrics2.reporters.StormReporter;

/** Keeps the metrics of a run's workers. Storm makes one of these in each, by the class's name. */
public final class WorkerMetrics implements StormReporter {
    private static final String RUN = "run";
    private static final Map<String, Collection<MetricRegistry>> ALL = new ConcurrentHashMap<>();

    /** What is to be added to the configuration of a topology. */
    static Map<String, Object> conf(String run) {
        return Map.of(
                Config.TOPOLOGY_METRICS_REPORTERS,
                List.of(Map.of("class", WorkerMetrics.class.getName(), RUN, run)));
    }

    /** Of the workers that have started. */
    static Collection<MetricRegistry> of(String run) {
        return ALL.computeIfAbsent(run, any -> new CopyOnWriteArrayList<>());
    }

    static void forget(String run) {
        ALL.remove(run);
    }

    @Override
    @Deprecated
    public void prepare(
            MetricRegistry metrics, Map<String, Object> conf, Map<String, Object> reporterConf) {
        of((String) reporterConf.get(RUN)).add(metrics);
    }

    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public void close() {}
}
