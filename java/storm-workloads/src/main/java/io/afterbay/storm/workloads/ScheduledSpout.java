package io.afterbay.storm.workloads;

import java.util.Map;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Values;
import org.jspecify.annotations.Nullable;

/**
 * Words by a schedule. The latency of a word is from when it was due, whenever it was sent: a spout
 * that waits for a slow system must not hide that.
 */
final class ScheduledSpout extends BaseRichSpout {
    private static final long serialVersionUID = 1;
    private static final String[] WORDS = {"nathan", "mike", "jackson", "golda", "bertels"};

    private final ExclamationPlan plan;

    private transient @Nullable SpoutOutputCollector collector;
    private transient @Nullable Measured measured;
    private transient long startNanos;
    private transient int next;

    ScheduledSpout(ExclamationPlan plan) {
        this.plan = plan;
    }

    @Override
    public void open(
            Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
        this.collector = collector;
        measured = Measured.of(plan.run());
    }

    @Override
    public void activate() {
        // Bolts may not be ready yet; what is due waits for them, and is warm-up.
        startNanos = System.nanoTime() - plan.dueNanos(next);
    }

    @Override
    public void nextTuple() {
        if (collector == null
                || next == plan.words()
                || System.nanoTime() - startNanos < plan.dueNanos(next)) {
            return;
        }
        collector.emit(new Values(WORDS[next % WORDS.length]), next);
        next++;
    }

    @Override
    public void ack(Object id) {
        int number = (Integer) id;
        if (measured != null) {
            long dueNanos = startNanos + plan.dueNanos(number);
            measured.acked(number, System.nanoTime() - dueNanos, plan.counts(number));
        }
    }

    @Override
    public void fail(Object id) {
        if (measured != null) {
            measured.failed();
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields("word"));
    }
}
