package io.afterbay.storm;

import com.codahale.metrics.Gauge;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.storm.Config;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.metrics2.StormMetricRegistry;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.testing.TestWordCounter;
import org.apache.storm.topology.TopologyBuilder;

/** What Storm tells a task. It keeps the gauges. */
final class FakeTask extends TopologyContext {
    /** A bolt that gets all by shuffle grouping. */
    static final String COMPONENT = "first";

    private final Map<String, Gauge<?>> gauges = new HashMap<>();

    /**
     * A task of {@value #COMPONENT}.
     *
     * @param topology whose tasks of this process are in one worker
     */
    FakeTask(String topology, int task) {
        this(shuffled(), topology, Map.of(task, COMPONENT), task);
    }

    /**
     * @param name whose tasks of this process are in one worker
     * @param components of all tasks, of which only the given one is in this worker
     */
    FakeTask(StormTopology topology, String name, Map<Integer, String> components, int task) {
        this(topology, name, components, tasks(components), List.of(task), task);
    }

    /**
     * One of several tasks of a bolt.
     *
     * @param tasks all of the bolt
     * @param here those in this worker
     */
    static FakeTask among(
            StormTopology topology,
            String bolt,
            List<Integer> tasks,
            List<Integer> here,
            int task) {
        Map<Integer, String> components = new HashMap<>();
        tasks.forEach(each -> components.put(each, bolt));
        return new FakeTask(
                topology,
                "among-" + System.nanoTime(),
                components,
                Map.of(bolt, tasks),
                here,
                task);
    }

    private FakeTask(
            StormTopology topology,
            String name,
            Map<Integer, String> components,
            Map<String, List<Integer>> tasks,
            List<Integer> here,
            int task) {
        super(
                topology,
                // Nobody tells how full queues are.
                Map.of(Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING, true),
                components,
                tasks,
                Map.of(),
                Map.of(),
                name,
                "",
                "",
                task,
                1,
                here,
                Map.of(),
                Map.of(),
                Map.of(),
                Map.of(),
                new AtomicBoolean(false),
                new StormMetricRegistry());
    }

    private static StormTopology shuffled() {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setBolt(COMPONENT, new TestWordCounter()).shuffleGrouping("words");
        return builder.createTopology();
    }

    private static Map<String, List<Integer>> tasks(Map<Integer, String> components) {
        Map<String, List<Integer>> tasks = new HashMap<>();
        components.forEach((task, component) -> tasks.put(component, List.of(task)));
        return tasks;
    }

    @Override
    public <T> Gauge<T> registerGauge(String name, Gauge<T> gauge) {
        gauges.put(name, gauge);
        return gauge;
    }

    /** What a gauge says now. */
    Object gauge(String name) {
        return Objects.requireNonNull(gauges.get(name)).getValue();
    }
}
