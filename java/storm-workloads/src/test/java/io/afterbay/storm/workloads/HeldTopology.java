package io.afterbay.storm.workloads;

import io.afterbay.storm.StragglerSettings;
import io.afterbay.storm.Stragglers;
import java.util.Map;
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
 * Numbers, one for each time that Storm asks the spout, to a bolt whose tasks stand still until
 * they are let go ({@link HeldRun}). Nothing but queues limits how many are under way.
 */
final class HeldTopology {
    /** The bolt that stands still. */
    static final String HELD = "held";

    /** Tuples that Storm's own queue of each task has room for: a power of two. */
    static final int RECEIVE_QUEUE = 16;

    /** What is held must not fail meanwhile, however busy the machine is. */
    private static final int TIMEOUT_S = 600;

    private static final String NUMBERS = "numbers";
    private static final String THROUGH = "through";

    private HeldTopology() {}

    /**
     * What is run.
     *
     * @param run its name, which no other run in this process has
     * @param words how many numbers there are
     * @param tasks of each bolt
     * @param capacity of the shared queue
     */
    record Plan(String run, int words, int tasks, int capacity) {}

    /** The tasks that stand still share a queue. */
    static StormTopology shared(Plan plan) {
        return of(plan, new TopologyBuilder(), NUMBERS, HELD);
    }

    /** The tasks before those that stand still share a queue. */
    static StormTopology behindShared(Plan plan) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setBolt(THROUGH, new PassBolt(), plan.tasks).shuffleGrouping(NUMBERS);
        return of(plan, builder, THROUGH, THROUGH);
    }

    /**
     * @param from what the tasks that stand still get their tuples from
     * @param shared the bolt whose tasks share a queue
     */
    private static StormTopology of(
            Plan plan, TopologyBuilder builder, String from, String shared) {
        builder.setSpout(NUMBERS, new Numbers(plan.run, plan.words));
        builder.setBolt(HELD, new Held(plan.run), plan.tasks).shuffleGrouping(from);
        return Stragglers.on(
                builder.createTopology(),
                StragglerSettings.none().shared(shared).sharedCapacity(plan.capacity));
    }

    /** Without {@code topology.max.spout.pending}, which would hold up the spout too. */
    static Map<String, Object> conf(String run) {
        Config conf = new Config();
        conf.setNumWorkers(1);
        conf.setNumAckers(1);
        conf.setMessageTimeoutSecs(TIMEOUT_S);
        conf.put(Config.TOPOLOGY_EXECUTOR_RECEIVE_BUFFER_SIZE, RECEIVE_QUEUE);
        conf.putAll(WorkerMetrics.conf(run));
        return conf;
    }

    private static final class Numbers extends BaseRichSpout {
        private final String run;
        private final int words;
        private transient SpoutOutputCollector collector;
        private transient HeldRun seen;
        private transient int next;

        Numbers(String run, int words) {
            this.run = run;
            this.words = words;
        }

        @Override
        public void open(
                Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
            this.collector = collector;
            seen = HeldRun.of(run);
        }

        @Override
        public void nextTuple() {
            seen.asked();
            if (next < words) {
                collector.emit(new Values(next), next++);
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

    private static final class Held extends PassBolt {
        private final String run;
        private transient HeldRun seen;

        Held(String run) {
            this.run = run;
        }

        @Override
        public void prepare(
                Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
            super.prepare(conf, context, collector);
            seen = HeldRun.of(run);
        }

        @Override
        public void execute(Tuple input) {
            try {
                seen.hold(input.getInteger(0));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            super.execute(input);
        }
    }
}
