package io.afterbay.workloads.updates;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** Builds the job. */
public final class Updates {
    /** Name of the operator that has the state. */
    public static final String OPERATOR = "updates";

    private Updates() {}

    public static void build(StreamExecutionEnvironment env, UpdateOptions options) {
        long keys = options.keys();
        env.fromSource(
                        new UpdateSource(options),
                        WatermarkStrategy.noWatermarks(),
                        "events",
                        Types.LONG)
                .setParallelism(1)
                .keyBy(number -> UpdateKeys.key(number, keys), Types.LONG)
                .process(new UpdateFunction(options), Types.LONG)
                .name(OPERATOR)
                .uid(OPERATOR)
                .sinkTo(new DiscardingSink<>())
                .name("nothing");
    }
}
