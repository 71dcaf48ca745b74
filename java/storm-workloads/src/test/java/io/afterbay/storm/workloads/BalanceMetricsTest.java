package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.afterbay.testing.Await;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What the metric of balanced streams says on real Storm, after tuples have gone through. */
class BalanceMetricsTest extends EmbeddedStormSuite {
    private static final int WORDS = 400;

    /** The metric's values at all tasks that have it, by what comes behind its name's beginning. */
    private Map<String, List<Integer>> values(int workers) throws Exception {
        ExclamationPlan plan =
                new ExclamationPlan(
                        "metrics-" + workers,
                        Technique.BALANCED,
                        200,
                        0,
                        WORDS,
                        4,
                        workers,
                        0.5,
                        1,
                        1);
        Measured measured = Measured.of(plan.run());
        Map<String, Object> conf = new HashMap<>(ExclamationTopology.conf(plan));
        conf.putAll(WorkerMetrics.conf(plan.run()));
        try {
            storm().submit(plan.run(), conf, ExclamationTopology.of(plan, conf));
            Await.until("words are acked", () -> measured.ackedWords() >= WORDS);
            Collection<MetricRegistry> all = WorkerMetrics.of(plan.run());
            Await.until(() -> "all workers: " + all, () -> all.size() == workers);
            Map<String, List<Integer>> values = new TreeMap<>();
            all.forEach(registry -> add(registry, values));
            values.values().forEach(list -> list.sort(null));
            storm().kill(plan.run());
            return values;
        } finally {
            WorkerMetrics.forget(plan.run());
            Measured.forget(plan.run());
        }
    }

    private static void add(MetricRegistry registry, Map<String, List<Integer>> values) {
        String ours = "afterbay-balanced-";
        for (Map.Entry<String, Gauge> gauge : registry.getGauges().entrySet()) {
            int begin = gauge.getKey().indexOf(ours);
            if (begin >= 0) {
                values.computeIfAbsent(
                                gauge.getKey().substring(begin + ours.length()),
                                any -> new ArrayList<>())
                        .add((Integer) gauge.getValue().getValue());
            }
        }
    }

    @Test
    void inOneWorkerTasksTell() throws Exception {
        assertThat(values(1))
                .containsOnly(
                        Map.entry("to-exclaim1:default", List.of(2)),
                        Map.entry("from-word:default", List.of(2, 2, 2, 2)),
                        Map.entry("from-exclaim1:default", List.of(2, 2, 2, 2)),
                        Map.entry("from-exclaim2:default", List.of(2, 2, 2, 2)));
    }

    /** The spout is in one of the workers, and each has two tasks of each bolt. */
    @Test
    void inTwoWorkersAcksTellASpoutAndOwnTasksTellBolts() throws Exception {
        assertThat(values(2))
                .containsOnly(
                        Map.entry("to-exclaim1:default", List.of(4)),
                        Map.entry("from-word:default", List.of(0, 0, 4, 4)),
                        Map.entry("from-exclaim1:default", List.of(3, 3, 3, 3)),
                        Map.entry("from-exclaim2:default", List.of(3, 3, 3, 3)));
    }
}
