package io.afterbay.workloads.nexmark;

import io.afterbay.workloads.run.EventSplit;
import io.afterbay.workloads.run.GeneratedSource;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The generated stream as a Flink source: bounded, in order, read by one instance. A checkpoint
 * holds the number of the next event, so a restart continues where it was.
 */
public final class EventSource extends GeneratedSource<Event> {
    private static final long serialVersionUID = 1;

    private final Generator generator;
    private final long events;
    private final double eventsPerSecond;
    private final String run;

    /**
     * @param generator the stream
     * @param events where it ends
     * @param eventsPerSecond rate of the open loop, or 0 for as fast as possible
     * @param run names the {@link NexmarkStatistics}
     */
    public EventSource(Generator generator, long events, double eventsPerSecond, String run) {
        this.generator = generator;
        this.events = events;
        this.eventsPerSecond = eventsPerSecond;
        this.run = run;
    }

    /** The stream with its watermarks, named and read by one instance. */
    public SingleOutputStreamOperator<Event> in(StreamExecutionEnvironment env) {
        return env.fromSource(
                        this,
                        WatermarkStrategy.forGenerator(context -> new Watermarks()),
                        "events",
                        CompactType.EVENT)
                .setParallelism(1);
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SourceReader<Event, EventSplit> createReader(SourceReaderContext context) {
        return new EventReader(
                generator, events, eventsPerSecond, context, NexmarkStatistics.of(run));
    }
}
