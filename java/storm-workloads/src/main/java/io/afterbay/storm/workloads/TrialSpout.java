package io.afterbay.storm.workloads;

import java.util.List;
import java.util.Map;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Values;
import org.jspecify.annotations.Nullable;

/**
 * Numbers by the schedule of a trial. The latency of one is from when it was due, whenever it was
 * sent: a spout that waits for a slow system must not hide that.
 */
final class TrialSpout extends BaseRichSpout {
    private static final long serialVersionUID = 1;

    private final String trial;

    private transient @Nullable SpoutOutputCollector collector;
    private transient @Nullable TrialLog log;
    private transient @Nullable TaskIndexes indexes;
    private transient int next;

    TrialSpout(String trial) {
        this.trial = trial;
    }

    @Override
    public void open(
            Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
        this.collector = collector;
        log = TrialLog.of(trial);
        indexes = TaskIndexes.of(context, TrialTopology.stage(0));
    }

    @Override
    public void activate() {
        // Bolts may not be ready yet; what is due waits for them, and is warm-up.
        if (log != null) {
            log.start();
        }
    }

    @Override
    public void nextTuple() {
        if (collector == null
                || log == null
                || indexes == null
                || next == log.schedule().tuples()
                || log.elapsedNanos() < log.schedule().dueNanos(next)) {
            return;
        }
        List<Integer> tasks = collector.emit(new Values(next, System.nanoTime()), next);
        log.sent(0, next, indexes.of(tasks.get(0)));
        next++;
    }

    @Override
    public void ack(Object id) {
        if (log != null) {
            log.acked((Integer) id);
        }
    }

    @Override
    public void fail(Object id) {
        if (log != null) {
            log.failed();
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields(TrialTopology.NUMBER, TrialTopology.SENT));
    }
}
