package io.afterbay.storm.workloads;

import io.afterbay.storm.Stragglers;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.topology.TopologyBuilder;

/** The topology of a plan, with its technique. */
final class ExclamationTopology {
    /** Its bolts, in the order of the words' way. */
    static final List<String> BOLTS = List.of("exclaim1", "exclaim2", "exclaim3");

    private static final String SPOUT = "word";

    private ExclamationTopology() {}

    /**
     * @param conf that is submitted with it
     */
    static StormTopology of(ExclamationPlan plan, Map<String, Object> conf) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(SPOUT, new ScheduledSpout(plan), 1);
        String before = SPOUT;
        for (String bolt : BOLTS) {
            boolean isFirst = before.equals(SPOUT);
            builder.setBolt(bolt, new ExclaimBolt(plan, isFirst), plan.tasks())
                    .shuffleGrouping(before);
            before = bolt;
        }
        return Stragglers.on(
                builder.createTopology(),
                plan.technique().settings(SPOUT, BOLTS.toArray(String[]::new)),
                conf);
    }

    static Map<String, Object> conf(ExclamationPlan plan) {
        Config conf = new Config();
        conf.setNumWorkers(plan.workers());
        conf.setNumAckers(1);
        conf.putAll(RunMetrics.conf(plan.run()));
        return conf;
    }
}
