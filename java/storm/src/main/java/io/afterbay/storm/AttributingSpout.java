package io.afterbay.storm;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.storm.ICredentialsListener;
import org.apache.storm.spout.ISpoutOutputCollector;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.IRichSpout;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.jspecify.annotations.Nullable;

/**
 * A spout of which the acks tell how long the paths take that begin at the tasks of a balanced bolt
 * ({@link FirstHops}). A bolt cannot send anything back to a spout, but a spout is told the tasks
 * that a tuple went to, and when all that came of it is done.
 *
 * <p>The spout sees what it would see without it. Tuples without an id are not counted.
 */
final class AttributingSpout implements IRichSpout, ICredentialsListener {
    private static final long serialVersionUID = 1;

    private final IRichSpout spout;

    private transient @Nullable FirstHops hops;
    private transient @Nullable WorkerShare share;

    AttributingSpout(IRichSpout spout) {
        this.spout = spout;
    }

    IRichSpout spout() {
        return spout;
    }

    @Override
    public void open(
            Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
        PieceChecks.checkAttributing(context);
        share = WorkerShare.enter(context);
        FirstHops those = FirstHops.of(context);
        hops = those;
        BalanceMetrics.ofSender(context);
        spout.open(
                conf,
                context,
                those.isEmpty()
                        ? collector
                        : new SpoutOutputCollector(new Attributing(collector, those)));
    }

    /** Between the spout and Storm. */
    record Attributing(SpoutOutputCollector collector, FirstHops hops)
            implements ISpoutOutputCollector {

        @Override
        public List<Integer> emit(String stream, List<Object> tuple, @Nullable Object id) {
            return id == null
                    ? collector.emit(stream, tuple)
                    : hops.emit(stream, id, () -> collector.emit(stream, tuple, id));
        }

        @Override
        public void emitDirect(int task, String stream, List<Object> tuple, @Nullable Object id) {
            collector.emitDirect(task, stream, tuple, id);
        }

        @Override
        public long getPendingCount() {
            return collector.getPendingCount();
        }

        @Override
        public void flush() {
            collector.flush();
        }

        @Override
        public void reportError(Throwable error) {
            collector.reportError(error);
        }
    }

    @Override
    public void nextTuple() {
        spout.nextTuple();
    }

    @Override
    public void ack(Object id) {
        Objects.requireNonNull(hops).acked(id);
        spout.ack(id);
    }

    @Override
    public void fail(Object id) {
        Objects.requireNonNull(hops).failed(id);
        spout.fail(id);
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
        if (spout instanceof ICredentialsListener) {
            ((ICredentialsListener) spout).setCredentials(credentials);
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        spout.declareOutputFields(declarer);
    }

    @Override
    public Map<String, Object> getComponentConfiguration() {
        return Mark.ATTRIBUTING.in(spout.getComponentConfiguration());
    }
}
