package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.spark.publish.PublishMetrics;
import io.afterbay.spark.publish.PublishSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A query on Spark, whose publishing ends at random points; Spark without us goes on from there.
 */
@Timeout(180)
class SparkQueryTest {
    private static final int CRASHES = 4;
    private static SparkSession spark;

    @TempDir static Path all; // until Spark's maintenance, too, has ended
    private Path dir;
    private TransactionalSink sink;
    private StatefulQuery query;

    @BeforeAll
    static void startSpark() {
        spark = TestSpark.builder().getOrCreate();
    }

    @AfterAll
    static void stopSpark() {
        StateStore.stop();
        spark.stop();
    }

    @BeforeEach
    void create() throws Exception {
        dir = Files.createTempDirectory(all, "test");
        Path sinkFiles = Files.createDirectory(dir.resolve("sink"));
        sink = new TransactionalSink(sinkFiles);
        sink.afterEach(this::checkOffsets);
        query = new StatefulQuery(dir.resolve("checkpoint"), sink);
    }

    /** Whoever restarts must find the end of a batch that the sink may have. */
    private void checkOffsets(long batch) {
        if (!Files.exists(dir.resolve("checkpoint/offsets/" + batch))) {
            throw new AssertionError("batch " + batch + " is in the sink before its offsets");
        }
    }

    @Test
    void vanillaSparkGoesOnWhereverPublishingEnded() throws Exception {
        Random random = new Random(7);
        for (int crash = 0; crash < CRASHES; crash++) {
            CrashingFileManager.endAfter(4 + random.nextInt(40), crash);
            boolean isPipelined = crash == 1 || crash == 2;
            StreamingQueryException e = query.runToFailure(isPipelined ? pipelined() : ours());
            assertThat(e).hasStackTraceContaining("the process is dead");
            if (crash % 2 == 0) {
                query.runTo(vanilla(), sink.last() + 1);
            }
        }
        query.runTo(vanilla(), sink.last() + 3);
        checkRows(2);
    }

    @Test
    void publishesBehindTheTasksAndSwitchesBackAndForth() throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        query.runTo(ours(), 5);
        query.runTo(pipelined(), 10);
        TestSpark.drain(dir.resolve("checkpoint"));
        query.runTo(vanilla(), 13);
        query.runTo(ours(), 18);
        query.runTo(pipelined(), 20);
        TestSpark.drain(dir.resolve("checkpoint"));
        checkRows(8);
        PublishMetrics metrics = TestSpark.metrics(dir.resolve("checkpoint"));
        // Of each batch: two log files, and two changelogs with checksums of two operators.
        assertThat(metrics.files()).isGreaterThanOrEqualTo(10 * (2 + 2 * 2 * 2));
        assertThat(metrics.waitingFiles()).isZero();
    }

    /** The control: if commits do not wait for state, this test has to see it. */
    @Test
    void withoutStateVanillaSparkDoesNotGoOn() throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        query.runTo(ours(), 2);
        CrashingFileManager.loseState();
        query.runTo(ours(), 5);
        TestSpark.drain(dir.resolve("checkpoint"));
        assertThat(query.runToFailure(vanilla())).hasStackTraceContaining(".changelog");
    }

    /** The control of {@link #checkOffsets}, and of the look back at the barrier. */
    @Test
    void withoutTheBarrierTheSinkHasABatchBeforeItsOffsetsArePublished() throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        query.runTo(pipelined(), 3);
        TestSpark.drain(dir.resolve("checkpoint"));
        Checkpoints before = Checkpoints.process();
        Path locals = Files.createDirectory(dir.resolve("locals"));
        Peers unheld =
                new Peers() {
                    @Override
                    void awaitPublished(Checkpoint checkpoint, String target) {}
                };
        Checkpoints.install(new Checkpoints(PublishSettings.defaults(), locals, unheld));
        try {
            CrashingFileManager.takeAtLeast(2_000);
            assertThat(query.runToFailure(pipelined()))
                    .hasStackTraceContaining("is in the sink before its offsets");
            sink.afterEach(batch -> {});
            assertThat(query.runToFailure(pipelined()))
                    .hasStackTraceContaining("no task of it has committed state");
        } finally {
            Checkpoints.process().abandon();
            Checkpoints.install(before);
        }
    }

    @Test
    void refusesAQueryWithoutStateInPipelinedMode() throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        StreamingQuery stateless =
                pipelined()
                        .readStream()
                        .format("rate")
                        .load()
                        .writeStream()
                        .format("console")
                        .option("checkpointLocation", dir.resolve("stateless").toString())
                        .start();
        assertThatThrownBy(() -> stateless.awaitTermination(60_000))
                .hasStackTraceContaining("in pipelined mode: rows reach its sink past all state")
                .hasStackTraceContaining("Set spark.afterbay.commit.mode=strict in its session");
        assertThat(dir.resolve("stateless/offsets/0")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"strict", "pipelined"})
    void availableNowEndsWhenItsLastCommitIsPublished(String mode) throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        CrashingFileManager.takeAtLeast(400);
        query.start(in(mode), Trigger.AvailableNow()).awaitTermination();
        assertThat(sink.last()).isNotNegative();
        assertThat(dir.resolve("checkpoint/commits/" + sink.last())).exists();

        // The control: others end as soon as the local copy is written.
        long next = sink.last() + 1;
        query.runTo(in(mode), next);
        assertThat(dir.resolve("checkpoint/commits/" + next)).doesNotExist();
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        TestSpark.drain(dir.resolve("checkpoint"));
    }

    @Test
    void refusesRealTimeMode() throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        StreamingQuery realTime =
                LowLatencyMemoryStream.apply(ours(), 1, Encoders.STRING())
                        .toDF()
                        .writeStream()
                        .outputMode("update")
                        .format("console")
                        .option("checkpointLocation", dir.resolve("real-time").toString())
                        .trigger(Trigger.RealTime("5 minutes"))
                        .start();
        try {
            assertThatThrownBy(() -> realTime.awaitTermination(60_000))
                    .hasStackTraceContaining("Afterbay does not support real-time mode");
        } finally {
            realTime.stop();
        }
    }

    @Test
    void refusesASessionWithoutFormat2() {
        SparkSession session = ours();
        session.conf().set("spark.sql.streaming.stateStore.checkpointFormatVersion", 1);
        assertThatThrownBy(() -> query.start(session).awaitTermination())
                .hasStackTraceContaining(
                        "Set spark.sql.streaming.stateStore.checkpointFormatVersion=2");
        assertThat(dir.resolve("checkpoint/offsets")).doesNotExist();
    }

    private static SparkSession ours() {
        SparkSession session = vanilla();
        session.conf()
                .set(QuerySettings.FILE_MANAGER, AfterbayCheckpointFileManager.class.getName());
        session.conf().set(QuerySettings.UNDERLYING, CrashingFileManager.class.getName());
        return session;
    }

    private static SparkSession pipelined() {
        return in("pipelined");
    }

    private static SparkSession in(String mode) {
        SparkSession session = ours();
        session.conf().set(QuerySettings.MODE, mode);
        return session;
    }

    private static SparkSession vanilla() {
        return spark.newSession();
    }

    private void checkRows(int windowsMin) throws Exception {
        List<String> rows = sink.rows();
        assertThat(rows).hasSizeGreaterThanOrEqualTo(windowsMin);
        assertThat(rows).isEqualTo(StatefulQuery.expected(rows.size()));
    }
}
