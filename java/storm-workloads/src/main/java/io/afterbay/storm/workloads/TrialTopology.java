package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerTopology;
import io.afterbay.handover.stragglers.StragglerTopology.Stage;
import io.afterbay.storm.StragglerSettings;
import io.afterbay.storm.Stragglers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.topology.BoltDeclarer;
import org.apache.storm.topology.TopologyBuilder;

/** The topology of a trial, with its technique. */
final class TrialTopology {
    static final String NUMBER = "number";

    /** When it was sent, by {@link System#nanoTime}: all of a trial is one process. */
    static final String SENT = "sent";

    private static final String SOURCE = "source";

    /** Overload makes tuples late, and late ones are not lost. */
    private static final Duration TIMEOUT = Duration.ofMinutes(30);

    private TrialTopology() {}

    /**
     * The name of an operator.
     *
     * @param place in the plan's list; {@link StragglerTopology#SOURCE}
     */
    static String component(StragglerPlan plan, int place) {
        return place == StragglerTopology.SOURCE
                ? SOURCE
                : plan.topology().stages().get(place).name();
    }

    /**
     * @param conf that is submitted with it
     */
    static StormTopology of(String trial, StragglerPlan plan, Map<String, Object> conf) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(SOURCE, new TrialSpout(trial), plan.topology().sources());
        List<Stage> stages = plan.topology().stages();
        for (int place = 0; place < stages.size(); place++) {
            Stage stage = stages.get(place);
            BoltDeclarer bolt =
                    builder.setBolt(stage.name(), new ServiceBolt(trial, place), stage.tasks());
            stage.inputs().forEach(from -> group(bolt, component(plan, from), trial, plan));
        }
        return Stragglers.on(builder.createTopology(), settings(plan), conf);
    }

    private static StragglerSettings settings(StragglerPlan plan) {
        String[] bolts = plan.topology().stages().stream().map(Stage::name).toArray(String[]::new);
        StragglerSettings settings =
                Technique.named(plan.senders().technique()).settings(SOURCE, bolts);
        return plan.senders().replaysWhenBusy() ? settings.replayUpTo(1, 1) : settings;
    }

    private static void group(BoltDeclarer bolt, String before, String trial, StragglerPlan plan) {
        switch (plan.senders().grouping()) {
            case LOAD_AWARE -> groupByLoad(bolt, before, plan);
            case SHUFFLE -> bolt.shuffleGrouping(before);
            case LATENCY_BALANCE -> bolt.customGrouping(before, new LatencyBalanceGrouping(trial));
            case JITTER -> bolt.customGrouping(before, new JitterGrouping(trial));
        }
    }

    private static void groupByLoad(BoltDeclarer bolt, String before, StragglerPlan plan) {
        if (plan.senders().prefersOwnWorker()) {
            bolt.shuffleGrouping(before);
        } else {
            bolt.customGrouping(before, new AnywhereShuffle());
        }
    }

    static Map<String, Object> conf(String trial, StragglerPlan plan) {
        Config conf = new Config();
        conf.setNumWorkers(plan.topology().workers());
        conf.setNumAckers(plan.topology().workers());
        conf.setMessageTimeoutSecs((int) TIMEOUT.toSeconds());
        conf.put(Config.TOPOLOGY_EXECUTOR_RECEIVE_BUFFER_SIZE, plan.senders().receiveBuffer());
        conf.put(
                Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING,
                plan.senders().grouping() == StragglerPlan.Grouping.SHUFFLE);
        if (!plan.topology().limits().isEmpty()) {
            // Else looking for tuples takes more of a limit than the tasks do.
            conf.put(Config.TOPOLOGY_BOLT_WAIT_PROGRESSIVE_LEVEL2_COUNT, 0);
        }
        conf.putAll(RunMetrics.conf(trial));
        return conf;
    }
}
