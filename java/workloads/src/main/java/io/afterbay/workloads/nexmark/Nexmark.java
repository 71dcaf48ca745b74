package io.afterbay.workloads.nexmark;

import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Builds the job of a query. */
public final class Nexmark {
    private Nexmark() {}

    /** Adds the whole job to an environment; the environment decides on backend and parallelism. */
    public static void build(StreamExecutionEnvironment env, NexmarkOptions options) {
        env.setRuntimeMode(RuntimeExecutionMode.STREAMING);
        env.configure(settings());
        options.query()
                .build(events(env, options), options)
                .sinkTo(AnswerRows.sink(options))
                .name("answers")
                .uid("answers")
                .setParallelism(1);
    }

    private static Configuration settings() {
        Configuration settings = new Configuration();
        settings.set(PipelineOptions.GENERIC_TYPES, false);
        settings.set(PipelineOptions.OBJECT_REUSE, true); // all records are immutable
        return settings;
    }

    private static DataStream<Event> events(
            StreamExecutionEnvironment env, NexmarkOptions options) {
        return new EventSource(
                        options.generator(),
                        options.events(),
                        options.eventsPerSecond(),
                        options.run())
                .in(env)
                .uid("events");
    }
}
