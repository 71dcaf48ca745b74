package io.afterbay.storm;

import io.afterbay.storm.ReplayedTask.Emission;
import io.afterbay.stragglers.AdaptiveTimeout;
import io.afterbay.stragglers.ReplayBudget;
import io.afterbay.stragglers.Replays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.apache.storm.Config;
import org.apache.storm.ICredentialsListener;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.utils.ObjectReader;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A spout whose late tuples are emitted a second time (Du &amp; Gupta 2016, section 3.1), around
 * the tasks that have the first ones: {@link Replays} says when, and {@link ReplayedTask} how.
 *
 * <p>Storm does not call a spout that has {@code topology.max.spout.pending} tuples under way, just
 * when replays are wanted. So for this component Storm's limit is off, and it is kept here: for the
 * spout's own tuples, in each task.
 */
final class ReplayedSpout implements IRichSpout, ICredentialsListener {
    private static final long serialVersionUID = 1;
    private static final Logger LOG = LoggerFactory.getLogger(ReplayedSpout.class);

    /** Storm's, for {@code topology.max.spout.pending}. */
    static final int NO_LIMIT = 0;

    private final IRichSpout spout;
    private final ReplayPlan plan;

    private transient @Nullable ReplayedTask task;
    private transient @Nullable LoadWatch watch;
    private transient @Nullable WorkerShare share;

    ReplayedSpout(IRichSpout spout, ReplayPlan plan) {
        this.spout = spout;
        this.plan = plan;
    }

    IRichSpout spout() {
        return spout;
    }

    @Override
    public void open(
            Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
        Refusals.checkAckers(context.getThisComponentId(), conf);
        Refusals.checkPending(context.getThisComponentId(), conf);
        List<String> bolts = plan.bolts() != null ? plan.bolts() : PieceChecks.checkedWay(context);
        sayWhatIsUnknown(context, bolts);
        share = WorkerShare.enter(context);
        ReplayBudget budget = plan.limits().budget();
        AdaptiveTimeout timeout = new AdaptiveTimeout(System::nanoTime, plan.limits().share());
        Replays<Emission> replays = new Replays<>(timeout, budget, System::nanoTime);
        Object pendingMax = pendingMax(context);
        LoadWatch load = watch(context, bolts, budget);
        ReplayedTask mine =
                new ReplayedTask(
                        context.getThisComponentId(),
                        spout,
                        collector,
                        replays,
                        ObjectReader.getInt(pendingMax, 0));
        watch = load;
        task = mine;
        context.registerGauge("afterbay-replay-sent", budget::replays);
        context.registerGauge("afterbay-replay-won", replays::replaysThatWon);
        context.registerGauge("afterbay-replay-refused", replays::refused);
        context.registerGauge("afterbay-replay-timeout-ms", () -> millis(timeout.timeoutNanos()));
        context.registerGauge("afterbay-replay-pending", mine::pending);
        context.registerGauge("afterbay-replay-open", () -> budget.isOpen() ? 1 : 0);
        context.registerGauge("afterbay-replay-queues", () -> known(load::queues));
        context.registerGauge("afterbay-replay-processors", () -> known(load::processors));
        spout.open(asItWas(conf, pendingMax), context, new SpoutOutputCollector(mine));
    }

    private LoadWatch watch(TopologyContext context, List<String> bolts, ReplayBudget budget) {
        QueueUtilisation queues =
                new QueueUtilisation(WorkerShare.of(context).busyTimes(), bolts, System.nanoTime());
        return new LoadWatch(budget, queues, plan.processors(), System::nanoTime);
    }

    /** The limit without this class: the component's, or else the topology's. */
    private @Nullable Object pendingMax(TopologyContext context) {
        return plan.pendingMax() != null
                ? plan.pendingMax()
                : context.getConf().get(Config.TOPOLOGY_MAX_SPOUT_PENDING);
    }

    private static Map<String, Object> asItWas(
            Map<String, Object> conf, @Nullable Object pendingMax) {
        Map<String, Object> all = new HashMap<>(conf);
        if (pendingMax == null) {
            all.remove(Config.TOPOLOGY_MAX_SPOUT_PENDING);
        } else {
            all.put(Config.TOPOLOGY_MAX_SPOUT_PENDING, pendingMax);
        }
        return all;
    }

    /** A budget that never opens should have been seen once. */
    private static void sayWhatIsUnknown(TopologyContext context, List<String> bolts) {
        Set<Integer> here = new HashSet<>(context.getThisWorkerTasks());
        List<String> elsewhere =
                bolts.stream()
                        .filter(
                                bolt ->
                                        context.getComponentTasks(bolt).stream()
                                                .noneMatch(here::contains))
                        .toList();
        if (!elsewhere.isEmpty()) {
            LOG.warn(
                    "spout '{}', task {}: nothing is replayed, since no task of {} is in this worker, and how busy they are is not known here; give them a task in each worker",
                    context.getThisComponentId(),
                    context.getThisTaskId(),
                    elsewhere);
        }
    }

    private static double known(DoubleSupplier share) {
        double value = share.getAsDouble();
        return Double.isNaN(value) ? -1 : value;
    }

    private static long millis(long timeoutNanos) {
        return timeoutNanos == AdaptiveTimeout.NONE
                ? -1
                : TimeUnit.NANOSECONDS.toMillis(timeoutNanos);
    }

    @Override
    public void nextTuple() {
        Objects.requireNonNull(watch).lookIfDue();
        Objects.requireNonNull(task).nextTuple();
    }

    @Override
    public void ack(Object id) {
        Objects.requireNonNull(task).ack(id);
    }

    @Override
    public void fail(Object id) {
        Objects.requireNonNull(task).fail(id);
    }

    @Override
    public void activate() {
        spout.activate();
    }

    @Override
    public void deactivate() {
        spout.deactivate();
    }

    @Override
    public void close() {
        if (share != null) {
            share.leave();
        }
        spout.close();
    }

    @Override
    public void setCredentials(Map<String, String> credentials) {
        if (spout instanceof ICredentialsListener listener) {
            listener.setCredentials(credentials);
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        spout.declareOutputFields(declarer);
    }

    @Override
    public Map<String, Object> getComponentConfiguration() {
        Map<String, Object> conf = spout.getComponentConfiguration();
        Map<String, Object> unlimited = conf == null ? new HashMap<>() : new HashMap<>(conf);
        unlimited.put(Config.TOPOLOGY_MAX_SPOUT_PENDING, NO_LIMIT);
        return unlimited;
    }
}
