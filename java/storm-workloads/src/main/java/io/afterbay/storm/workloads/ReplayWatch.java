package io.afterbay.storm.workloads;

import com.codahale.metrics.MetricRegistry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Looks now and then at the metrics of a run's workers that are about replays; these find it by the
 * run's name ({@link RunMetrics}). Registries may come by any thread; the rest is for one.
 */
final class ReplayWatch {
    private static final Map<String, ReplayWatch> ALL = new ConcurrentHashMap<>();

    private final List<MetricRegistry> workers = new CopyOnWriteArrayList<>();
    private final Mean whileClosed = new Mean();
    private final Mean always = new Mean();

    private ReplayWatch() {}

    /** That of a run, made if need be. */
    static ReplayWatch of(String run) {
        return ALL.computeIfAbsent(run, any -> new ReplayWatch());
    }

    static void forget(String run) {
        ALL.remove(run);
    }

    private static final class Mean {
        private long looks;
        private double queues;
        private double processors;

        void add(double queueShare, double processorShare) {
            looks++;
            queues += queueShare;
            processors += processorShare;
        }
    }

    /** A worker has started. */
    void add(MetricRegistry worker) {
        workers.add(worker);
    }

    /** Notes how busy the system is, once that is known. */
    void look() {
        double queues = max("queues");
        double processors = max("processors");
        if (queues < 0 || processors < 0) {
            return;
        }
        always.add(queues, processors);
        if (max("open") == 0) {
            whileClosed.add(queues, processors);
        }
    }

    private double max(String metric) {
        return values(metric).stream().mapToDouble(Number::doubleValue).max().orElse(-1);
    }

    long sum(String metric) {
        return values(metric).stream().mapToLong(Number::longValue).sum();
    }

    private List<Number> values(String metric) {
        String end = "-afterbay-replay-" + metric;
        return workers.stream()
                .flatMap(
                        worker ->
                                worker
                                        .getGauges((name, any) -> name.endsWith(end))
                                        .values()
                                        .stream())
                .map(gauge -> (Number) gauge.getValue())
                .toList();
    }

    ReplayFigures figures() {
        Mean mean = whileClosed.looks > 0 ? whileClosed : always;
        return new ReplayFigures(
                sum("sent"),
                sum("won"),
                sum("refused"),
                (double) whileClosed.looks / always.looks,
                mean.queues / mean.looks,
                mean.processors / mean.looks);
    }
}
