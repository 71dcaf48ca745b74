package io.afterbay.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.connector.base.source.hybrid.HybridSource;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.SourceOperatorFactory;
import org.junit.jupiter.api.Test;

/** What is done with which source, without a cluster. */
class ReplayGraphTest {
    private static final ReplayRange RANGE = new ReplayRange(0, 60_000);
    private static final String RANGE_TEXT = "[1970-01-01T00:00:00Z, 1970-01-01T00:01:00Z)";

    private final StreamExecutionEnvironment env = Replaying.environment();

    private static List<String> rewrite(StreamGraph job) throws ReplayRefusedException {
        return ReplayGraph.rewrite(
                Replaying.identified(job), RANGE, "r1", URI.create("file:///nowhere"));
    }

    private static StreamNode source(StreamGraph job) {
        return job.getStreamNode(job.getSourceIDs().iterator().next());
    }

    @Test
    void allButTheSourceStaysAsItIs() throws Exception {
        Replaying.count(
                env.fromSource(
                                new DataGeneratorSource<>(number -> number, 9, Types.LONG),
                                WatermarkStrategy.<Long>forMonotonousTimestamps()
                                        .withWatermarkAlignment("g", Duration.ofSeconds(1)),
                                "numbers")
                        .uid("the-uid")
                        .setParallelism(1));
        StreamGraph job = env.getStreamGraph();
        StreamNode node = source(job);
        SourceOperatorFactory<?> before = (SourceOperatorFactory<?>) node.getOperatorFactory();
        assertThat(rewrite(job))
                .containsExactly(
                        "source 'numbers' (org.apache.flink.connector.datagen.source.DataGeneratorSource): as it is, records by their time in "
                                + RANGE_TEXT);
        SourceOperatorFactory<?> after = (SourceOperatorFactory<?>) node.getOperatorFactory();
        assertThat(Fields.get(after, "source")).isInstanceOf(ReplaySource.class);
        for (String same : List.of("watermarkStrategy", "emitProgressiveWatermarks")) {
            assertThat(Fields.get(after, same)).isSameAs(Fields.get(before, same));
        }
        assertThat(after.getChainingStrategy()).isEqualTo(before.getChainingStrategy());
        assertThat(node.getParallelism()).isEqualTo(1);
        assertThat(node.getTransformationUID()).isEqualTo("the-uid");
    }

    @Test
    void monitoredFilesAreMadeToEndAndTheOriginalGoesOn() throws Exception {
        FileSource<String> files = Sources.monitored(Path.of("/nowhere"));
        env.fromSource(files, Sources.timesOfLines(), "lines").sinkTo(new DiscardingSink<>());
        assertThat(rewrite(env.getStreamGraph()))
                .containsExactly(
                        "source 'lines' (org.apache.flink.connector.file.src.FileSource): lists its files once, reads them in the order of their last change, and then ends, records by their time in "
                                + RANGE_TEXT);
        assertThat(files.getBoundedness()).isEqualTo(Boundedness.CONTINUOUS_UNBOUNDED);
    }

    @Test
    void whatKafkaIsAskedForIsSaid() throws Exception {
        KafkaSource<String> kafka =
                KafkaSource.<String>builder()
                        .setBootstrapServers("localhost:1")
                        .setTopics("t")
                        .setGroupId("live")
                        .setValueOnlyDeserializer(new SimpleStringSchema())
                        .build();
        env.fromSource(kafka, WatermarkStrategy.noWatermarks(), "topic")
                .sinkTo(new DiscardingSink<>());
        assertThat(rewrite(env.getStreamGraph()))
                .containsExactly(
                        "source 'topic' (org.apache.flink.connector.kafka.source.KafkaSource): offsets of "
                                + RANGE_TEXT
                                + " by the time in Kafka's log, at most up to where the log ends when the replay begins; group live-replay-r1, no offsets committed");
        assertThat(kafka.getBoundedness()).isEqualTo(Boundedness.CONTINUOUS_UNBOUNDED);
    }

    @Test
    void aSourceWithoutAnEndIsRefusedByItsClass() {
        env.fromSource(new Endless(), WatermarkStrategy.<Long>noWatermarks(), "ticks", Types.LONG)
                .sinkTo(new DiscardingSink<>());
        assertThatThrownBy(() -> rewrite(env.getStreamGraph()))
                .isInstanceOf(ReplayRefusedException.class)
                .hasMessageStartingWith(
                        "source 'ticks' (io.afterbay.replay.ReplayGraphTest$Endless) cannot be replayed: it has no end")
                .hasMessageContaining(
                        "a KafkaSource, a FileSource, the bounded part of a HybridSource")
                .hasMessageEndingWith("from files or from Kafka when it is replayed");
    }

    @Test
    void aHybridSourceWithoutABoundedPartIsRefused() {
        HybridSource<String> hybrid =
                HybridSource.builder(Sources.monitored(Path.of("/nowhere"))).build();
        env.fromSource(hybrid, Sources.timesOfLines(), "both", Types.STRING)
                .sinkTo(new DiscardingSink<>());
        assertThatThrownBy(() -> rewrite(env.getStreamGraph()))
                .isInstanceOf(ReplayRefusedException.class)
                .hasMessageContaining("source 'both'")
                .hasMessageContaining("none of its parts is bounded");
    }

    @Test
    void aSourceOfTheOldApiIsRefusedByTheClassOfItsFunction() {
        env.addSource(new Old(), "old", Types.LONG).sinkTo(new DiscardingSink<>());
        assertThatThrownBy(() -> rewrite(env.getStreamGraph()))
                .isInstanceOf(ReplayRefusedException.class)
                .hasMessageContaining("source 'old' (io.afterbay.replay.ReplayGraphTest$Old)")
                .hasMessageContaining("env.fromSource");
    }

    /** A generator that says it never ends. */
    private static final class Endless extends NumberSequenceSource {
        private static final long serialVersionUID = 1;

        Endless() {
            super(0, 9);
        }

        @Override
        public Boundedness getBoundedness() {
            return Boundedness.CONTINUOUS_UNBOUNDED;
        }
    }

    private static final class Old implements SourceFunction<Long> {
        private static final long serialVersionUID = 1;

        @Override
        public void run(SourceContext<Long> context) {
            // Never run.
        }

        @Override
        public void cancel() {
            // Never run.
        }
    }
}
