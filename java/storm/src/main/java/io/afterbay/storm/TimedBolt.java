package io.afterbay.storm;

import java.util.Map;
import java.util.Objects;
import org.apache.storm.ICredentialsListener;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.tuple.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * A bolt on the way of a replayed spout's tuples: it lets the spouts of its worker know for how
 * long it is at work. That is the time in {@code execute}; work in threads of its own is not seen.
 * Storm's thread looks for tuples by {@link PacedWait}, since processor time that nobody works in
 * would keep replays from being sent.
 */
final class TimedBolt implements IRichBolt, ICredentialsListener {
    private static final long serialVersionUID = 1;

    private final IRichBolt bolt;

    private transient @Nullable Timing timing;

    TimedBolt(IRichBolt bolt) {
        this.bolt = bolt;
    }

    IRichBolt bolt() {
        return bolt;
    }

    private record Timing(
            WorkerShare share,
            BusyTimes times,
            String component,
            int id,
            BusyTimes.Task task,
            MeanTime mean) {
        static Timing of(TopologyContext context) {
            WorkerShare share = WorkerShare.enter(context);
            BusyTimes times = share.busyTimes();
            String component = context.getThisComponentId();
            int id = context.getThisTaskId();
            return new Timing(
                    share, times, component, id, times.join(component, id), new MeanTime());
        }

        void end() {
            times.leave(component, id, task);
            share.leave();
        }
    }

    @Override
    public void prepare(
            Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        bolt.prepare(conf, context, collector);
        timing = Timing.of(context);
        PacedWait.follow(timing.mean()::nanos);
    }

    @Override
    public void execute(Tuple input) {
        Timing timed = Objects.requireNonNull(timing);
        long begun = System.nanoTime();
        timed.task().begin(begun);
        try {
            bolt.execute(input);
        } finally {
            long ended = System.nanoTime();
            timed.task().end(ended);
            timed.mean().observe(ended - begun);
        }
    }

    @Override
    public void cleanup() {
        if (timing != null) {
            timing.end();
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
        return Mark.TIMED.in(bolt.getComponentConfiguration());
    }
}
