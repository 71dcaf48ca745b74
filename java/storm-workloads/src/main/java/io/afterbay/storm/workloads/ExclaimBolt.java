package io.afterbay.storm.workloads;

import java.util.Map;
import java.util.Random;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;
import org.jspecify.annotations.Nullable;

/** Adds an exclamation mark, which takes a while: it sleeps, so that many fit few processors. */
final class ExclaimBolt extends BaseRichBolt {
    private static final long serialVersionUID = 1;
    private static final double NANOS_PER_MS = 1e6;

    private final ExclamationPlan plan;
    private final boolean hasSlowTask;

    private transient @Nullable OutputCollector collector;
    private transient @Nullable Measured measured;
    private transient @Nullable Random random;
    private transient String bolt = "";
    private transient int task;
    private transient double meanNanos;

    /**
     * @param hasSlowTask whether its first task is the plan's slow one
     */
    ExclaimBolt(ExclamationPlan plan, boolean hasSlowTask) {
        this.plan = plan;
        this.hasSlowTask = hasSlowTask;
    }

    @Override
    public void prepare(
            Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        this.collector = collector;
        measured = Measured.of(plan.run());
        bolt = context.getThisComponentId();
        task = context.getThisTaskIndex();
        random = new Random(plan.seed() * 31 + context.getThisTaskId());
        double slowdown = hasSlowTask && task == 0 ? plan.slowdown() : 1;
        meanNanos = plan.serviceMs() * NANOS_PER_MS * slowdown;
    }

    @Override
    public void execute(Tuple input) {
        if (collector == null || measured == null || random == null) {
            throw new IllegalStateException("not prepared");
        }
        Sleep.nanos((long) (-Math.log(1 - random.nextDouble()) * meanNanos));
        measured.executed(bolt, task); // before the ack, behind which somebody may count
        collector.emit(input, new Values(input.getString(0) + "!"));
        collector.ack(input);
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields("word"));
    }
}
