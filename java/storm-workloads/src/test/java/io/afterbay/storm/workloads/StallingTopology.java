package io.afterbay.storm.workloads;

import io.afterbay.storm.CalmMachine;
import io.afterbay.storm.StragglerPieces;
import io.afterbay.storm.StragglerSettings;
import io.afterbay.storm.Stragglers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.apache.storm.Config;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;

/**
 * Numbers, as fast as Storm lets the spout, through two bolts. The task of the first one that gets
 * a certain number stands still until something has happened.
 */
final class StallingTopology {
    static final int PENDING_MAX = 50;

    /** So late that a spout has seen what it needs for a timeout. */
    private static final int STALLED = 700;

    /** The components that settings may name. */
    static final String SPOUT = "numbers";

    static final String FIRST = "first";

    private static final long LOOK_NANOS = 2_000_000;

    private StallingTopology() {}

    /** What happened. The topology finds it by the run's name. */
    static final class Seen {
        private static final Map<String, Seen> ALL = new ConcurrentHashMap<>();

        private final Predicate<Measured> isOver;
        private final AtomicBoolean hasStalled = new AtomicBoolean();
        private final Map<Integer, List<Integer>> tasks = new ConcurrentHashMap<>();
        private volatile int pendingMax;
        private volatile Object limit = "none";

        /**
         * @param isOver when the stall is over
         */
        Seen(String run, Predicate<Measured> isOver) {
            this.isOver = isOver;
            ALL.put(run, this);
        }

        /** The tasks of the first bolt that had each number, by the number. */
        Map<Integer, List<Integer>> tasks() {
            return tasks;
        }

        /** How many numbers were under way at most. */
        int pendingMax() {
            return pendingMax;
        }

        /** What the spout was told of {@code topology.max.spout.pending}. */
        Object limit() {
            return limit;
        }
    }

    /** Whether it is the stalled number that was acked. */
    static boolean isAcked(Measured measured) {
        return measured.isAcked(STALLED);
    }

    static StormTopology of(ExclamationPlan plan, StragglerSettings settings) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(SPOUT, new Numbers(plan));
        builder.setBolt(FIRST, new First(plan), plan.tasks()).shuffleGrouping(SPOUT);
        builder.setBolt("second", new PassBolt(), plan.tasks()).shuffleGrouping(FIRST);
        return Stragglers.on(builder.createTopology(), CalmMachine.with(settings));
    }

    /** The same, put together from the pieces. */
    static StormTopology ofPieces(ExclamationPlan plan, StragglerSettings limits) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(
                SPOUT, StragglerPieces.replayed(new Numbers(plan), CalmMachine.with(limits)));
        builder.setBolt(FIRST, StragglerPieces.timed(new First(plan)), plan.tasks())
                .customGrouping(SPOUT, StragglerPieces.replayShuffle());
        builder.setBolt("second", StragglerPieces.timed(new PassBolt()), plan.tasks())
                .shuffleGrouping(FIRST);
        return builder.createTopology();
    }

    static Map<String, Object> conf(ExclamationPlan plan) {
        Map<String, Object> conf = new HashMap<>(ExclamationTopology.conf(plan));
        conf.put(Config.TOPOLOGY_MAX_SPOUT_PENDING, PENDING_MAX);
        return conf;
    }

    private static final class Numbers extends BaseRichSpout {
        private final ExclamationPlan plan;
        private transient SpoutOutputCollector collector;
        private transient Measured measured;
        private transient Seen seen;
        private transient int next;
        private transient int pending;

        Numbers(ExclamationPlan plan) {
            this.plan = plan;
        }

        @Override
        public void open(
                Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
            this.collector = collector;
            measured = Measured.of(plan.run());
            seen = Seen.ALL.get(plan.run());
            seen.limit = conf.get(Config.TOPOLOGY_MAX_SPOUT_PENDING);
        }

        @Override
        public void nextTuple() {
            if (next < plan.words()) {
                pending++;
                seen.pendingMax = Math.max(seen.pendingMax, pending);
                collector.emit(new Values(next), next++);
            }
        }

        @Override
        public void ack(Object id) {
            pending--;
            measured.acked((Integer) id, 0, true);
        }

        @Override
        public void fail(Object id) {
            pending--;
            measured.failed();
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(PassBolt.FIELDS);
        }
    }

    private static final class First extends PassBolt {
        private final ExclamationPlan plan;
        private transient int task;

        First(ExclamationPlan plan) {
            this.plan = plan;
        }

        @Override
        public void prepare(
                Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
            super.prepare(conf, context, collector);
            task = context.getThisTaskIndex();
        }

        @Override
        public void execute(Tuple input) {
            Seen seen = Seen.ALL.get(plan.run());
            int number = input.getInteger(0);
            seen.tasks.computeIfAbsent(number, any -> new CopyOnWriteArrayList<>()).add(task);
            if (number == STALLED && seen.hasStalled.compareAndSet(false, true)) {
                Measured measured = Measured.of(plan.run());
                // A word that fails has waited for Storm's timeout: the test has failed.
                while (!seen.isOver.test(measured)
                        && measured.failures() == 0
                        && !Thread.currentThread().isInterrupted()) {
                    LockSupport.parkNanos(LOOK_NANOS);
                }
            }
            super.execute(input);
        }
    }
}
