package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerPlan.Service;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;
import org.jspecify.annotations.Nullable;

/** A stage of a trial: sleeps for each tuple, and passes it on if another stage follows. */
final class ServiceBolt extends BaseRichBolt {
    private static final long serialVersionUID = 1;
    private static final double NANOS_PER_MS = 1e6;

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
        private final Random random;
        private final int id;
        private final int index;
        private final @Nullable TaskIndexes next;

        private Task(TrialLog log, TopologyContext context, OutputCollector collector) {
            this.log = log;
            this.collector = collector;
            this.feedback = log.listeners(context.getThisComponentId());
            this.id = context.getThisTaskId();
            this.index = context.getThisTaskIndex();
            this.random = new Random(log.plan().seed() * 31 + id);
            this.next =
                    stage + 1 < log.plan().stages()
                            ? TaskIndexes.of(context, TrialTopology.stage(stage + 1))
                            : null;
        }

        private void execute(Tuple input) {
            int number = input.getInteger(0);
            long begun = System.nanoTime();
            Sleep.nanos(serviceNanos());
            log.executed(stage, number, index);
            long ended = System.nanoTime();
            for (TrialLog.Feedback listener : feedback) {
                listener.executed(
                        input.getSourceTask(), id, ended - input.getLong(1), ended - begun);
            }
            if (next != null) {
                List<Integer> tasks = collector.emit(input, new Values(number, System.nanoTime()));
                log.sent(stage + 1, number, next.of(tasks.get(0)));
            }
            collector.ack(input);
        }

        private long serviceNanos() {
            StragglerPlan plan = log.plan();
            double factor =
                    plan.service() == Service.FIXED ? 1 : -Math.log(1 - random.nextDouble());
            boolean isSlow = stage == 0 && index == 0 && log.isSlowNow();
            return (long)
                    (plan.serviceMs() * NANOS_PER_MS * factor * (isSlow ? plan.slowdown() : 1));
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields(TrialTopology.NUMBER, TrialTopology.SENT));
    }
}
