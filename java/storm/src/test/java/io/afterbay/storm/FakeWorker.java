package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.NodeInfo;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.grouping.CustomStreamGrouping;
import org.apache.storm.task.WorkerTopologyContext;

/** What groupings of a stream to bolt {@value #BOLT} see of the worker that they are in. */
final class FakeWorker {
    static final String BOLT = "parse";

    /** The one task of the stream's source. */
    private static final int SENDER = 1;

    /** What groupings of one topology know, they share. */
    private static final AtomicInteger TOPOLOGIES = new AtomicInteger();

    private final StormTopology topology;
    private final Map<String, Object> conf;
    private final List<Integer> tasks;
    private final AtomicReference<Map<Integer, NodeInfo>> places = new AtomicReference<>(Map.of());

    /**
     * @param tasks of the bolt
     */
    FakeWorker(StormTopology topology, Map<String, Object> conf, List<Integer> tasks) {
        this.topology = topology;
        this.conf = conf;
        this.tasks = tasks;
    }

    /** Storm places the bolt's tasks: these in one worker, and all others in another one. */
    void place(Collection<Integer> inFirst) {
        NodeInfo first = new NodeInfo("node", Set.of(6700L));
        NodeInfo second = new NodeInfo("other", Set.of(6700L));
        Map<Integer, NodeInfo> placed = new HashMap<>();
        tasks.forEach(task -> placed.put(task, inFirst.contains(task) ? first : second));
        places.set(placed);
    }

    /**
     * @param here the bolt's tasks in the worker of the sender, which is the first one
     */
    <T extends CustomStreamGrouping> T prepared(T grouping, List<Integer> here) {
        Map<Integer, String> components = new HashMap<>();
        components.put(SENDER, "events");
        tasks.forEach(task -> components.put(task, BOLT));
        WorkerTopologyContext context =
                new WorkerTopologyContext(
                        topology,
                        conf,
                        components,
                        Map.of(BOLT, tasks, "events", List.of(SENDER)),
                        new HashMap<>(),
                        "topology-" + TOPOLOGIES.incrementAndGet(),
                        "",
                        "",
                        6700,
                        Stream.concat(here.stream(), Stream.of(SENDER)).toList(),
                        new HashMap<>(),
                        new HashMap<>(),
                        places,
                        "node",
                        new AtomicReference<>(Map.of("node", "here", "other", "there")));
        grouping.prepare(context, new GlobalStreamId("events", "default"), tasks);
        return grouping;
    }

    /**
     * Of a stream to these tasks.
     *
     * @param here all tasks of a worker
     * @param sendersHere the share of the senders that the worker has
     */
    static Edge edge(
            Set<Integer> here, List<Integer> tasks, boolean isAckable, double sendersHere) {
        List<Integer> those = tasks.stream().filter(here::contains).toList();
        EvenSpread spread =
                those.size() == tasks.size()
                        ? null
                        : new EvenSpread(tasks, those, sendersHere, nowhere(), seldom());
        return new Edge(here, tasks, isAckable, spread);
    }

    /** Before Storm has placed anything. */
    private static AtomicReference<Map<Integer, NodeInfo>> nowhere() {
        return new AtomicReference<>(Map.of());
    }

    /** A clock for one who is asked once an hour. */
    private static LongSupplier seldom() {
        AtomicLong hours = new AtomicLong();
        return () -> TimeUnit.HOURS.toNanos(hours.incrementAndGet());
    }

    /** How many tuples each task gets. */
    static Map<Integer, Integer> choices(
            CustomStreamGrouping grouping, int tuples, int... avoided) {
        Map<Integer, Integer> counts = new TreeMap<>();
        for (int i = 0; i < tuples; i++) {
            List<Integer> chosen =
                    AvoidedTasks.around(avoided, () -> grouping.chooseTasks(SENDER, List.of("a")));
            assertThat(chosen).hasSize(1);
            counts.merge(chosen.get(0), 1, Integer::sum);
        }
        return counts;
    }
}
