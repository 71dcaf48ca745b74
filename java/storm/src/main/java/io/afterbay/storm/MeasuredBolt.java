package io.afterbay.storm;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.storm.ICredentialsListener;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.tuple.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * A bolt that tells the senders of its own worker how long their tuples take. A metric says how
 * they choose its tasks.
 */
final class MeasuredBolt implements IRichBolt, ICredentialsListener {
    private static final long serialVersionUID = 1;

    private final IRichBolt bolt;

    private transient @Nullable TopologyContext context;
    private transient @Nullable WorkerShare share;
    private transient Set<Integer> here = Set.of();

    MeasuredBolt(IRichBolt bolt) {
        this.bolt = bolt;
    }

    IRichBolt bolt() {
        return bolt;
    }

    @Override
    public void prepare(
            Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        PieceChecks.checkMeasured(context);
        this.context = context;
        this.share = WorkerShare.enter(context);
        this.here = Set.copyOf(context.getThisWorkerTasks());
        BalanceMetrics.ofReceiver(context);
        bolt.prepare(conf, context, collector);
    }

    @Override
    public void execute(Tuple input) {
        long begun = System.nanoTime();
        bolt.execute(input);
        if (here.contains(input.getSourceTask())) {
            tell(input, System.nanoTime() - begun);
        }
    }

    private void tell(Tuple input, long nanos) {
        TopologyContext self = Objects.requireNonNull(context);
        Edge edge =
                Objects.requireNonNull(share)
                        .edge(
                                input.getSourceComponent(),
                                input.getSourceStreamId(),
                                self.getThisComponentId());
        if (edge != null) {
            edge.completed(self.getThisTaskId(), nanos);
        }
    }

    @Override
    public void cleanup() {
        if (share != null) {
            share.leave();
        }
        bolt.cleanup();
    }

    @Override
    public void setCredentials(Map<String, String> credentials) {
        if (bolt instanceof ICredentialsListener listener) {
            listener.setCredentials(credentials);
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        bolt.declareOutputFields(declarer);
    }

    @Override
    public Map<String, Object> getComponentConfiguration() {
        return Mark.MEASURED.in(bolt.getComponentConfiguration());
    }
}
