package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --mode beside} of a job that writes files: refused before it is sent anywhere. */
class MergedFilesTest {
    @TempDir private Path root;

    @Test
    void filesAreNotMergedWithThoseOfTheLiveJob() throws Exception {
        Path replays = root.resolve("replays");
        Path output = root.resolve("rows");
        ReplayDirectory directory =
                ReplayDirectory.create(
                        replays,
                        TestReplays.local("numbers"),
                        TestReplays.engine(),
                        new RateChoice(Rate.MAX, false));
        assertThat(directory.plan().merge()).isNotNull();
        ReplayCompanion companion = new ReplayCompanion(directory, directory.plan(), null);
        UnreachableEngine engine = new UnreachableEngine();
        companion.starting(engine);
        assertThatThrownBy(() -> submit(engine, output))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("may write to the outside")
                .hasMessageContaining("only sinks to Kafka")
                .hasMessageContaining("--own-output");
        assertThat(companion.hasNothingBegun()).as("it is removed").isTrue();
        assertThat(Files.exists(output)).isFalse();
    }

    private static void submit(UnreachableEngine engine, Path output) throws Exception {
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(new Configuration());
        environment.enableCheckpointing(1000);
        environment
                .fromSource(
                        new NumberSequenceSource(0, 99),
                        WatermarkStrategy.<Long>forMonotonousTimestamps()
                                .withTimestampAssigner((number, ms) -> number * 1000),
                        "numbers")
                .map(number -> "" + number)
                .sinkTo(
                        FileSink.forRowFormat(
                                        new org.apache.flink.core.fs.Path(output.toUri()),
                                        new SimpleStringEncoder<String>())
                                .build());
        engine.submissions()
                .execute(
                        environment.getStreamGraph(),
                        new Configuration(),
                        MergedFilesTest.class.getClassLoader());
    }
}
