package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerTopology;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Values;
import org.jspecify.annotations.Nullable;

/**
 * Numbers by the schedule of a trial, of which the tasks take turns. The latency of one is from
 * when it was due, whenever it was sent: a spout that waits for a slow system must not hide that.
 */
final class TrialSpout extends BaseRichSpout {
    private static final long serialVersionUID = 2;

    private final String trial;

    private transient @Nullable Task task;

    TrialSpout(String trial) {
        this.trial = trial;
    }

    @Override
    public void open(
            Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
        task = new Task(TrialLog.of(trial), context, collector);
    }

    private Task task() {
        return Objects.requireNonNull(task);
    }

    @Override
    public void activate() {
        // Bolts may not be ready yet; what is due waits for them, and is warm-up.
        task().log.ready(task().index);
    }

    @Override
    public void nextTuple() {
        task().nextTuple();
    }

    @Override
    public void ack(Object id) {
        task().ack((Instances.Id) id);
    }

    @Override
    public void fail(Object id) {
        task().fail((Instances.Id) id);
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields(TrialTopology.NUMBER, TrialTopology.SENT));
    }

    /** One task at work; for its thread. */
    private static final class Task {
        private final TrialLog log;
        private final SpoutOutputCollector collector;
        private final Outgoing outgoing;
        private final Instances instances;
        private final int index;
        private int next;

        private Task(TrialLog log, TopologyContext context, SpoutOutputCollector collector) {
            this.log = log;
            this.collector = collector;
            this.outgoing = new Outgoing(log, context, StragglerTopology.SOURCE);
            this.instances = new Instances(log.plan());
            this.index = context.getThisTaskIndex();
            this.next = index;
            log.limited().enter(context.getThisWorkerPort());
        }

        private void nextTuple() {
            if (next >= log.schedule().tuples()
                    || log.elapsedNanos() < log.schedule().dueNanos(next)) {
                return;
            }
            send(new Instances.Id(next, false));
            if (instances.replicates(next)) {
                log.repeated();
                send(new Instances.Id(next, true));
            }
            next += log.plan().topology().sources();
        }

        private void send(Instances.Id id) {
            long now = System.nanoTime();
            if (!id.isSecond()) {
                log.emitted(id.number(), now);
            }
            List<Integer> tasks = collector.emit(new Values(id.number(), now), id);
            outgoing.sent(id.number(), tasks);
        }

        private void ack(Instances.Id id) {
            if (instances.acked(id)) {
                log.acked(id.number(), id.isSecond());
            }
        }

        private void fail(Instances.Id id) {
            if (instances.failed(id)) {
                log.failed();
            }
        }
    }
}
