package io.afterbay.storm.workloads;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;
import org.jspecify.annotations.Nullable;

/**
 * A stage of a trial: sleeps for each tuple, or is at work in a limited worker, and passes it on if
 * another stage follows.
 */
final class ServiceBolt extends BaseRichBolt {
    private static final long serialVersionUID = 1;

    private final String trial;
    private final int stage;

    private transient @Nullable Task task;

    /**
     * @param stage counted from 0
     */
    ServiceBolt(String trial, int stage) {
        this.trial = trial;
        this.stage = stage;
    }

    @Override
    public void prepare(
            Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        task = new Task(TrialLog.of(trial), context, collector);
    }

    @Override
    public void execute(Tuple input) {
        Objects.requireNonNull(task).execute(input);
    }

    /** One task at work; one thread at a time. */
    private final class Task {
        private final TrialLog log;
        private final OutputCollector collector;
        private final List<TrialLog.Feedback> feedback;
        private final ServiceTimes times;
        private final int id;
        private final int index;
        private final Map<String, Integer> edges;
        private final Outgoing outgoing;
        private final int port;
        private final @Nullable SharedMachine machine;

        private Task(TrialLog log, TopologyContext context, OutputCollector collector) {
            this.log = log;
            this.collector = collector;
            this.feedback = log.listeners(context.getThisComponentId());
            this.id = context.getThisTaskId();
            this.index = context.getThisTaskIndex();
            this.times = new ServiceTimes(log.plan().load(), log.plan().seed() * 31 + id);
            this.edges = edges();
            this.outgoing = new Outgoing(log, context, stage);
            this.port = context.getThisWorkerPort();
            this.machine = log.machine(port);
            log.limited().enter(port);
        }

        /** The ways to this stage, by the component that tuples come from. */
        private Map<String, Integer> edges() {
            Map<String, Integer> of = new HashMap<>();
            for (int edge = 0; edge < log.edges().size(); edge++) {
                if (log.edges().get(edge).to() == stage) {
                    int from = log.edges().get(edge).from();
                    of.put(TrialTopology.component(log.plan(), from), edge);
                }
            }
            return of;
        }

        private void work(long begun, long nanos) {
            if (log.limited().isEmpty()) {
                Sleep.nanos(machine == null ? nanos : machine.doneNanos(begun, nanos) - begun);
            } else {
                LimitedWorkers.work(nanos);
            }
        }

        private void execute(Tuple input) {
            // With a shared queue, the thread is not the one that prepared this.
            log.limited().enter(port);
            long begun = System.nanoTime();
            int number = input.getInteger(0);
            log.queueTimes().waited(number, begun - input.getLong(1));
            boolean isSlow = stage == 0 && index == 0 && log.isSlowNow();
            work(begun, times.nextNanos(log.elapsedNanos(), isSlow));
            log.executed(
                    Objects.requireNonNull(edges.get(input.getSourceComponent())), number, index);
            long ended = System.nanoTime();
            for (TrialLog.Feedback listener : feedback) {
                listener.executed(
                        input.getSourceTask(), id, ended - input.getLong(1), ended - begun);
            }
            if (!outgoing.isEmpty()) {
                outgoing.sent(number, collector.emit(input, new Values(number, System.nanoTime())));
            }
            collector.ack(input);
            log.queueTimes().served(number, System.nanoTime() - begun);
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields(TrialTopology.NUMBER, TrialTopology.SENT));
    }
}
