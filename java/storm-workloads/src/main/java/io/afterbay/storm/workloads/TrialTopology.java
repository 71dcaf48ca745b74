package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.storm.Stragglers;
import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;
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

    /** The name of a stage's bolt. */
    static String stage(int number) {
        return "stage" + number;
    }

    static StormTopology of(String trial, StragglerPlan plan) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(SOURCE, new TrialSpout(trial), 1);
        for (int stage = 0; stage < plan.stages(); stage++) {
            BoltDeclarer bolt =
                    builder.setBolt(stage(stage), new ServiceBolt(trial, stage), plan.tasks());
            group(bolt, stage == 0 ? SOURCE : stage(stage - 1), trial, plan);
        }
        String[] stages =
                IntStream.range(0, plan.stages())
                        .mapToObj(TrialTopology::stage)
                        .toArray(String[]::new);
        return Stragglers.on(
                builder.createTopology(),
                Technique.named(plan.technique()).settings(SOURCE, stages));
    }

    private static void group(BoltDeclarer bolt, String before, String trial, StragglerPlan plan) {
        switch (plan.grouping()) {
            case LOAD_AWARE, SHUFFLE -> bolt.shuffleGrouping(before);
            case LATENCY_BALANCE -> bolt.customGrouping(before, new LatencyBalanceGrouping(trial));
            case JITTER -> bolt.customGrouping(before, new JitterGrouping(trial));
        }
    }

    static Map<String, Object> conf(StragglerPlan plan) {
        Config conf = new Config();
        conf.setNumWorkers(1);
        conf.setNumAckers(1);
        conf.setMessageTimeoutSecs((int) TIMEOUT.toSeconds());
        conf.put(Config.TOPOLOGY_EXECUTOR_RECEIVE_BUFFER_SIZE, plan.receiveBuffer());
        conf.put(
                Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING,
                plan.grouping() == StragglerPlan.Grouping.SHUFFLE);
        return conf;
    }
}
