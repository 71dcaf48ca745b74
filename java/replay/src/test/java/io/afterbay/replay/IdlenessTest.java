package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.flink.api.common.eventtime.TimestampAssigner;
import org.apache.flink.api.common.eventtime.WatermarkAlignmentParams;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.eventtime.WatermarksWithIdleness;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.util.clock.RelativeClock;
import org.apache.flink.util.clock.SystemClock;
import org.junit.jupiter.api.Test;

/** Watermarks of a replay are never idle, and are otherwise those of the job. */
class IdlenessTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final WatermarkStrategy<String> PLAIN =
            WatermarkStrategy.forBoundedOutOfOrderness(Duration.ofSeconds(1));

    private static final class Context
            implements org.apache.flink.api.common.eventtime.WatermarkGeneratorSupplier.Context,
                    org.apache.flink.api.common.eventtime.TimestampAssignerSupplier.Context {
        @Override
        public MetricGroup getMetricGroup() {
            return new UnregisteredMetricsGroup();
        }

        @Override
        public RelativeClock getInputActivityClock() {
            return SystemClock.getInstance();
        }
    }

    private static boolean mayBeIdle(WatermarkStrategy<String> strategy) {
        return strategy.createWatermarkGenerator(new Context()) instanceof WatermarksWithIdleness;
    }

    private static long time(WatermarkStrategy<String> strategy, String record) {
        return strategy.createTimestampAssigner(new Context())
                .extractTimestamp(record, TimestampAssigner.NO_TIMESTAMP);
    }

    private static List<WatermarkStrategy<String>> withIdleness() {
        return List.of(
                PLAIN.withIdleness(TIMEOUT)
                        .withTimestampAssigner((record, ms) -> record.length())
                        .withWatermarkAlignment("g", Duration.ofSeconds(2), Duration.ofMillis(300)),
                PLAIN.withTimestampAssigner((record, ms) -> record.length())
                        .withWatermarkAlignment("g", Duration.ofSeconds(2), Duration.ofMillis(300))
                        .withIdleness(TIMEOUT),
                PLAIN.withIdleness(TIMEOUT)
                        .withWatermarkAlignment("g", Duration.ofSeconds(2), Duration.ofMillis(300))
                        .withIdleness(TIMEOUT)
                        .withTimestampAssigner((record, ms) -> record.length()));
    }

    @Test
    void itIsTakenOutWhereverItIsAndAllElseStays() throws Exception {
        for (WatermarkStrategy<String> strategy : withIdleness()) {
            assertThat(mayBeIdle(strategy)).isTrue();
            WatermarkStrategy<String> without = Idleness.without(strategy);
            assertThat(mayBeIdle(without)).isFalse();
            assertThat(time(without, "four")).isEqualTo(4);
            WatermarkAlignmentParams alignment = without.getAlignmentParameters();
            assertThat(alignment.getWatermarkGroup()).isEqualTo("g");
            assertThat(alignment.getMaxAllowedWatermarkDrift()).isEqualTo(2_000);
            assertThat(alignment.getUpdateInterval()).isEqualTo(300);
        }
    }

    @Test
    void aStrategyWithoutItStaysTheSame() throws Exception {
        WatermarkStrategy<String> strategy =
                PLAIN.withTimestampAssigner((record, ms) -> record.length())
                        .withWatermarkAlignment("g", Duration.ofSeconds(2));
        assertThat(Idleness.without(strategy)).isSameAs(strategy);
    }

    @Test
    void itIsSaidWhereItWasAndTheJobsOwnStays() throws Exception {
        StreamExecutionEnvironment env = Replaying.environment();
        WatermarkStrategy<String> idle = PLAIN.withIdleness(TIMEOUT);
        env.fromSource(Sources.monitored(Path.of("/nowhere")), idle, "lines")
                .map(line -> line)
                .returns(String.class)
                .assignTimestampsAndWatermarks(idle)
                .sinkTo(new DiscardingSink<>());
        StreamGraph job = Replaying.identified(env.getStreamGraph(false));
        List<String> lines =
                ReplayGraph.rewrite(
                        job, new ReplayRange(0, 1), "r1", URI.create("file:///nowhere"));
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).endsWith("; never idle");
        assertThat(lines.get(1)).isEqualTo("watermarks of 'Timestamps/Watermarks': never idle");
        assertThat(Idleness.takeFrom(job)).isEmpty();
        assertThat(Idleness.takeFrom(env.getStreamGraph())).hasSize(1);
        assertThat(mayBeIdle(idle)).isTrue();
    }
}
