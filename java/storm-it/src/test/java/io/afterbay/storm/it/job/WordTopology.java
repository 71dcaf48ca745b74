package io.afterbay.storm.it.job;

import io.afterbay.storm.Stragglers;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.topology.TopologyBuilder;

/** A spout, two bolts with a technique, and a sink, in two workers. */
public final class WordTopology {
    static final String WORD = "word";
    static final String FIRST = "first";
    static final String SECOND = "second";

    private static final int WORKERS = 2;
    private static final int TASKS = 4;
    private static final int PENDING_MAX = 200;
    private static final int TIMEOUT_S = 5;

    private WordTopology() {}

    /**
     * @param conf that is submitted with it
     */
    public static StormTopology of(Ledger ledger, Technique technique, Map<String, Object> conf) {
        TopologyBuilder builder = new TopologyBuilder();
        builder.setSpout(WORD, new WordSpout(ledger, true));
        builder.setBolt(FIRST, new PassBolt(null), TASKS).shuffleGrouping(WORD);
        builder.setBolt(SECOND, new PassBolt(ledger), TASKS).shuffleGrouping(FIRST);
        builder.setBolt("sink", new SinkBolt(ledger), WORKERS).shuffleGrouping(SECOND);
        return Stragglers.on(builder.createTopology(), technique.settings(), conf);
    }

    public static Map<String, Object> conf(Technique technique) {
        Config conf = new Config();
        conf.setNumWorkers(WORKERS);
        conf.setNumAckers(WORKERS);
        conf.setMaxSpoutPending(PENDING_MAX);
        conf.setMessageTimeoutSecs(TIMEOUT_S);
        // Storm's load-aware shuffle keeps words in the spout's worker for as long as that has
        // little to do. Balance by acks does not, and bolts need it to balance in their worker.
        conf.put(Config.TOPOLOGY_DISABLE_LOADAWARE_MESSAGING, technique != Technique.BALANCED);
        return conf;
    }
}
