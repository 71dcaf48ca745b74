package io.afterbay.storm.workloads;

import static io.afterbay.storm.StragglerPieces.balanced;
import static io.afterbay.storm.StragglerPieces.shared;
import static io.afterbay.storm.StragglerPieces.sharedShuffle;

import io.afterbay.storm.BalancedGrouping;
import io.afterbay.testing.Await;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.apache.storm.Config;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.thrift.TException;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;

/**
 * Numbers through bolts. The first task of two of them stands still with its first number until it
 * is let go. Storm's limit of pending numbers is the only thing that it can use up.
 */
final class PiecesTopology {
    static final int NUMBERS = 400;
    static final int PENDING_MAX = 20;
    static final String FIRST = "first";
    static final String SECOND = "second";
    static final String THIRD = "third";

    /**
     * While all of a bolt look alike, the one that stands gets an even share of what is under way.
     */
    static final int TASKS = 5;

    /** What is held must not fail meanwhile, however busy the machine is. */
    private static final int TIMEOUT_S = 600;

    private static final String SPOUT = "numbers";

    private PiecesTopology() {}

    /** From Storm's own parts. */
    static StormTopology plain(String run) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(SPOUT, new Numbers(run)).setMaxSpoutPending(PENDING_MAX);
        builder.setBolt(FIRST, new Standing(run), TASKS).shuffleGrouping(SPOUT);
        builder.setBolt(SECOND, new Standing(run), TASKS).shuffleGrouping(FIRST);
        return builder.createTopology();
    }

    /**
     * The first bolt is balanced, and the others are shared, with Storm's shuffle and with ours.
     */
    static StormTopology ofPieces(String run) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(SPOUT, balanced(new Numbers(run))).setMaxSpoutPending(PENDING_MAX);
        builder.setBolt(FIRST, balanced(new Standing(run)), TASKS)
                .customGrouping(SPOUT, new BalancedGrouping());
        builder.setBolt(SECOND, shared(new Standing(run)), TASKS).shuffleGrouping(FIRST);
        builder.setBolt(THIRD, shared(new PassBolt()), TASKS)
                .customGrouping(SECOND, sharedShuffle());
        return builder.createTopology();
    }

    /** What is seen of a run. The topology finds it by its name. Safe for use by any thread. */
    static final class Seen implements AutoCloseable {
        private static final Map<String, Seen> ALL = new ConcurrentHashMap<>();

        private final EmbeddedStorm storm;
        private final String run;
        private final Measured measured;
        private final CountDownLatch isLetGo = new CountDownLatch(1);
        private final Map<Integer, AtomicInteger> sent = new ConcurrentHashMap<>();
        private final Map<String, Integer> standing = new ConcurrentHashMap<>();
        private final AtomicInteger emitted = new AtomicInteger();

        private Seen(EmbeddedStorm storm, String run) {
            this.storm = storm;
            this.run = run;
            this.measured = Measured.of(run);
        }

        static Seen submit(EmbeddedStorm storm, String run, StormTopology topology)
                throws TException {
            Seen seen = new Seen(storm, run);
            ALL.put(run, seen);
            Config conf = new Config();
            conf.setNumWorkers(1);
            conf.setNumAckers(1);
            conf.setMessageTimeoutSecs(TIMEOUT_S);
            conf.putAll(WorkerMetrics.conf(run));
            storm.submit(run, conf, topology);
            return seen;
        }

        private void sentTo(List<Integer> tasks) {
            tasks.forEach(
                    task ->
                            sent.computeIfAbsent(task, any -> new AtomicInteger())
                                    .incrementAndGet());
        }

        private void standStill(String bolt, int task) {
            standing.put(bolt, task);
            try {
                isLetGo.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        void letGo() {
            isLetGo.countDown();
        }

        Measured measured() {
            return measured;
        }

        int emitted() {
            return emitted.get();
        }

        boolean isStanding() {
            return standing.size() == 2;
        }

        /** How many numbers Storm has given to the task of a bolt that stands still. */
        int sentToStanding(String bolt) {
            Integer task = standing.get(bolt);
            AtomicInteger count = task == null ? null : sent.get(task);
            return count == null ? 0 : count.get();
        }

        /** How many numbers each task was sent, of all bolts. */
        List<Integer> sent() {
            return sent.values().stream().map(AtomicInteger::get).toList();
        }

        /** What the gauges of a bolt's tasks say. */
        List<Integer> gauges(String bolt, String name) {
            return gauges(each -> each.contains("." + bolt + ".") && each.endsWith("-" + name));
        }

        /** What the gauges say whose names end so. */
        List<Integer> gauges(String end) {
            return gauges(name -> name.endsWith(end));
        }

        private List<Integer> gauges(Predicate<String> names) {
            return WorkerMetrics.of(run).stream()
                    .flatMap(
                            worker ->
                                    worker
                                            .getGauges((name, any) -> names.test(name))
                                            .values()
                                            .stream())
                    .map(gauge -> ((Number) gauge.getValue()).intValue())
                    .toList();
        }

        void await(BooleanSupplier condition) throws Exception {
            Await.until(this::toString, condition::getAsBoolean);
        }

        @Override
        public String toString() {
            return "%d emitted, %d acked, %d failed, standing: %s, sent: %s"
                    .formatted(
                            emitted(), measured.ackedWords(), measured.failures(), standing, sent);
        }

        @Override
        public void close() throws Exception {
            letGo();
            storm.kill(run);
            ALL.remove(run);
            Measured.forget(run);
            WorkerMetrics.forget(run);
        }
    }

    private static final class Numbers extends BaseRichSpout {
        private final String run;
        private transient SpoutOutputCollector collector;
        private transient Seen seen;
        private transient int next;

        Numbers(String run) {
            this.run = run;
        }

        @Override
        public void open(
                Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
            this.collector = collector;
            seen = Seen.ALL.get(run);
        }

        @Override
        public void nextTuple() {
            if (next < NUMBERS) {
                seen.sentTo(collector.emit(new Values(next), next++));
                seen.emitted.set(next);
            }
        }

        @Override
        public void ack(Object id) {
            seen.measured().acked((Integer) id, 0, true);
        }

        @Override
        public void fail(Object id) {
            seen.measured().failed();
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(PassBolt.FIELDS);
        }
    }

    private static final class Standing extends PassBolt {
        private final String run;
        private transient OutputCollector collector;
        private transient Seen seen;
        private transient String bolt;
        private transient int task;
        private transient boolean isFirst;

        Standing(String run) {
            this.run = run;
        }

        @Override
        public void prepare(
                Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
            this.collector = collector;
            seen = Seen.ALL.get(run);
            bolt = context.getThisComponentId();
            task = context.getThisTaskId();
            isFirst = context.getThisTaskIndex() == 0;
        }

        @Override
        public void execute(Tuple input) {
            seen.measured().executed(bolt, task);
            if (isFirst) {
                seen.standStill(bolt, task);
            }
            seen.sentTo(collector.emit(input, input.getValues()));
            collector.ack(input);
        }
    }
}
