package io.afterbay.workloads.trafficjam;

import java.time.Duration;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;

/** Builds the job. Names and identifiers of its operators are stable, so savepoints stay usable. */
public final class TrafficJam {
    private static final Duration WINDOW = Duration.ofSeconds(Report.WINDOW_S);
    private static final long LATENESS_MILLIS = Report.LATENESS_S * 1000;

    private TrafficJam() {}

    /** Adds the whole job to an environment; the environment decides on backend and parallelism. */
    public static void build(StreamExecutionEnvironment env, TrafficJamOptions options) {
        env.setRuntimeMode(RuntimeExecutionMode.STREAMING);
        env.configure(settings(options));
        sink(rankings(reports(env, options), options), options);
    }

    private static Configuration settings(TrafficJamOptions options) {
        Configuration settings = new Configuration();
        settings.set(PipelineOptions.GENERIC_TYPES, false);
        settings.set(PipelineOptions.OBJECT_REUSE, true); // all records are immutable
        if (!options.trace().isReplayable()) {
            settings.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        }
        return settings;
    }

    private static DataStream<Report> reports(
            StreamExecutionEnvironment env, TrafficJamOptions options) {
        WatermarkStrategy<Report> watermarks =
                WatermarkStrategy.forGenerator(context -> new BehindLargestTime());
        return env.fromSource(new TraceSource(options), watermarks, "trace")
                .uid("trace")
                .setParallelism(1);
    }

    private static DataStream<RankingRow> rankings(
            DataStream<Report> reports, TrafficJamOptions options) {
        return reports.keyBy(Report::car)
                .process(LastReports.of(options))
                .name("cars")
                .uid("cars")
                .keyBy(Report::street)
                .window(TumblingEventTimeWindows.of(WINDOW))
                .trigger(new ArrivalTrigger(options.run()))
                .process(new StreetWindow())
                .name("streets")
                .uid("streets")
                .windowAll(TumblingEventTimeWindows.of(WINDOW))
                .process(new Ranking(options.run()))
                .name("ranking")
                .uid("ranking");
    }

    private static void sink(DataStream<RankingRow> rows, TrafficJamOptions options) {
        if (options.output() == null) {
            rows.sinkTo(new DiscardingSink<>()).name("nowhere").setParallelism(1);
        } else {
            rows.sinkTo(new RankingFile(options.output()))
                    .name("ranking file")
                    .uid("ranking-file")
                    .setParallelism(1);
        }
    }

    /**
     * A watermark as soon as a larger time was read, just behind the reports that may still come:
     * the source has taken out all that are further back.
     */
    private static final class BehindLargestTime implements WatermarkGenerator<Report> {
        private long maxMillis = Long.MIN_VALUE;

        @Override
        public void onEvent(Report report, long millis, WatermarkOutput output) {
            if (millis > maxMillis) {
                maxMillis = millis;
                output.emitWatermark(new Watermark(millis - LATENESS_MILLIS - 1));
            }
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {
            // Everything was said with the reports.
        }
    }
}
