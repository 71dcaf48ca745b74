package io.afterbay.spark;

import static io.afterbay.testing.TestForm.SPARK_CRASHES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.spark.publish.PublishMetrics;
import io.afterbay.spark.publish.PublishSettings;
import io.afterbay.testing.Await;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.StreamingQueryException;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A query on Spark, whose publishing ends at random points; Spark without us goes on from there.
 */
class SparkQueryTest {
    private static final int ATTEMPTS_MAX = 3;

    /** Of about ten in a batch. */
    private static final int WRITES_BETWEEN = 3;

    private static SparkSession spark;

    @TempDir static Path all; // until Spark's maintenance, too, has ended
    private Path dir;
    private TransactionalSink sink;
    private StatefulQuery query;

    @BeforeAll
    static void startSpark() {
        spark =
                TestSpark.builder()
                        .config("spark.afterbay.commit.attemptsMax", ATTEMPTS_MAX)
                        .getOrCreate();
    }

    @AfterAll
    static void stopSpark() {
        StateStore.stop();
        spark.stop();
    }

    @BeforeEach
    void create() throws Exception {
        dir = Files.createTempDirectory(all, "test");
        CrashingFileManager.below(dir);
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

    /**
     * In one batch, or almost three in the long form, a process dies after each third write, and
     * vanilla Spark goes on.
     */
    @ParameterizedTest
    @ValueSource(strings = {"strict", "pipelined"})
    void vanillaSparkGoesOnWhereverPublishingEnded(String mode) throws Exception {
        for (int crash = 0; crash < SPARK_CRASHES; crash++) {
            CrashingFileManager.endAfter(2 + WRITES_BETWEEN * crash, crash);
            StreamingQueryException e = query.runToFailure(in(mode));
            assertThat(e).hasStackTraceContaining("the process is dead");
            query.runTo(vanilla(), sink.last() + 1);
            checkRows(0);
        }
        // Windows end some batches later.
        query.runTo(vanilla(), sink.last() + 5);
        checkRows(Math.max(1, SPARK_CRASHES / 3));
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

    /**
     * Stopped while the log of a batch waits: whoever stops it may remove or copy the checkpoint
     * then, and start it again.
     */
    @ParameterizedTest
    @ValueSource(strings = {"strict", "pipelined"})
    void aQueryThatIsStoppedHasPublishedEverythingAndWritesNothingMore(String mode)
            throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        Path checkpoint = dir.resolve("checkpoint");
        query.runTo(in(mode), 3);
        CrashingFileManager.hold("commits");
        StreamingQuery stopped = runUntilWaiting(in(mode), "commits");
        CompletableFuture<Void> stop = stopInBackground(stopped);
        Await.until("the end waits", () -> isEnding(stopped));
        assertThat(stop.isDone()).isFalse();
        assertThat(checkpoint.resolve("commits/" + sink.last())).doesNotExist();
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        stop.get();
        assertThat(checkpoint.resolve("commits/" + sink.last())).exists();
        assertThat(TestSpark.metrics(checkpoint).waitingFiles()).isZero();
        assertThat(stopped.exception().isEmpty()).isTrue();
        PublisherThreads.awaitEnd(checkpoint);

        query.runTo(in(mode), sink.last() + 3);
        checkRows(1);
    }

    private StreamingQuery runUntilWaiting(SparkSession session, String log) throws Exception {
        long before = sink.last(); // the query may wait with its first batch
        StreamingQuery running = query.start(session);
        Await.until(
                log + " waits",
                () -> sink.last() > before && TestSpark.waits(dir.resolve("checkpoint"), log));
        return running;
    }

    private static CompletableFuture<Void> stopInBackground(StreamingQuery query) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        query.stop();
                    } catch (TimeoutException e) {
                        throw new AssertionError(e);
                    }
                });
    }

    private static boolean isEnding(StreamingQuery query) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(t -> t.getKey().getName().contains(query.runId().toString()))
                .flatMap(t -> Stream.of(t.getValue()))
                .filter(f -> f.getClassName().equals(QueryEnd.class.getName()))
                .anyMatch(f -> f.getMethodName().equals("end"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"strict", "pipelined"})
    void theLogSaysForWhichQueryItIsOn(String mode) throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        try (LoggedLines lines = new LoggedLines(AfterbayCheckpointFileManager.class)) {
            StreamingQuery running = query.start(in(mode));
            Await.until("a batch", () -> sink.last() >= 0);
            running.stop();
            assertThat(lines.all())
                    .containsExactly(
                            "INFO Afterbay publishes the checkpoint of query "
                                    + running.id()
                                    + " behind its batches, in "
                                    + mode
                                    + " mode: file:"
                                    + dir.resolve("checkpoint"));
        }
    }

    @Test
    void anApplicationWithThePluginAloneDoesNotStart() {
        PluginContext plugin =
                (PluginContext)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {PluginContext.class},
                                (proxy, method, arguments) -> new SparkConf(false)); // conf()
        assertThatThrownBy(
                        () ->
                                new PluginOnDriver(DriverPeers::new)
                                        .init(spark.sparkContext(), plugin))
                .hasMessageContaining("no query would use it: " + QuerySettings.FILE_MANAGER);
    }

    /** Its checkpoint is Spark's, which deletes it at the query's end. */
    @Test
    void aTemporaryCheckpointIsGoneWhenItsQueryHasEnded() throws Exception {
        CrashingFileManager.below(Path.of(System.getProperty("java.io.tmpdir")));
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        CrashingFileManager.takeAtLeast(300); // late for whoever does not wait
        long failures = TestSpark.metric("publishFailures");
        StreamingQuery running =
                StatefulQuery.counts(StatefulQuery.generated(ours()))
                        .writeStream()
                        .outputMode("append")
                        .format("noop")
                        .start();
        Await.until("batches", () -> running.recentProgress().length > 3);
        running.stop();
        String root = ((StreamingQueryWrapper) running).streamingQuery().resolvedCheckpointRoot();
        Path temporary = Path.of(URI.create(root));
        assertThat(temporary).doesNotExist();
        assertThat(TestSpark.metric("waitingFiles")).isZero();
        assertThat(TestSpark.metric("publishFailures")).isEqualTo(failures);
        PublisherThreads.awaitEnd(temporary);
        assertThat(temporary).doesNotExist();
    }

    @Test
    void sparksMetricsSayWhatIsPublishedAndWhatWaits() throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        long before = TestSpark.metric("publishedFiles");
        long bytesBefore = TestSpark.metric("publishedBytes");
        long failuresBefore = TestSpark.metric("publishFailures");
        query.runTo(ours(), 3);
        TestSpark.drain(dir.resolve("checkpoint"));
        PublishMetrics ofQuery = TestSpark.metrics(dir.resolve("checkpoint"));
        assertThat(TestSpark.metric("publishedFiles") - before)
                .isEqualTo(ofQuery.files())
                .isPositive();
        assertThat(TestSpark.metric("publishedBytes") - bytesBefore)
                .isEqualTo(ofQuery.bytes())
                .isPositive();
        assertThat(TestSpark.metric("publishFailures") - failuresBefore)
                .isEqualTo(ofQuery.failures());
        for (String none : List.of("waitingFiles", "waitingBytes", "lostExecutors")) {
            assertThat(TestSpark.metric(none)).as(none).isZero();
        }

        CrashingFileManager.hold("commits");
        StreamingQuery running = runUntilWaiting(ours(), "commits");
        assertThat(TestSpark.metric("waitingFiles")).isPositive();
        assertThat(TestSpark.metric("waitingBytes")).isPositive();
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        running.stop();
        assertThat(TestSpark.metric("waitingBytes")).isZero();
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
        assertThatThrownBy(() -> stateless.awaitTermination(Await.DEADLINE.toMillis()))
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

        // The control: the batches of others do not wait for it.
        CrashingFileManager.hold("commits");
        StreamingQuery other = runUntilWaiting(in(mode), "commits");
        assertThat(dir.resolve("checkpoint/commits/" + sink.last())).doesNotExist();
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        other.stop();
    }

    @Test
    void refusesRealTimeMode() throws Exception {
        checkRefused(
                LowLatencyMemoryStream.apply(ours(), 1, Encoders.STRING())
                        .toDF()
                        .writeStream()
                        .outputMode("update")
                        .trigger(Trigger.RealTime("5 minutes")),
                "real-time mode",
                "Set another trigger");
    }

    @Test
    void refusesContinuousMode() throws Exception {
        checkRefused(
                rates().writeStream().trigger(Trigger.Continuous("1 second")),
                "continuous mode",
                "Set another trigger");
    }

    @Test
    void refusesAsynchronousProgressTracking() throws Exception {
        checkRefused(
                rates().writeStream().option("asyncProgressTrackingEnabled", true),
                "asynchronous progress tracking",
                "Remove the option asyncProgressTrackingEnabled from its writeStream");
    }

    private static Dataset<Row> rates() {
        return ours().readStream().format("rate").load();
    }

    private void checkRefused(DataStreamWriter<Row> writer, String what, String way)
            throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        Path checkpoint = dir.resolve("refused");
        StreamingQuery refused =
                writer.format("console")
                        .option("checkpointLocation", checkpoint.toString())
                        .start();
        try {
            assertThatThrownBy(() -> refused.awaitTermination(Await.DEADLINE.toMillis()))
                    .hasStackTraceContaining("Afterbay does not support " + what)
                    .hasStackTraceContaining(way + ", or remove " + QuerySettings.FILE_MANAGER);
        } finally {
            refused.stop();
        }
        assertThat(checkpoint.resolve("offsets/0")).doesNotExist();
        assertThat(checkpoint.resolve("commits/0")).doesNotExist();
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
        SparkSession session = spark.newSession();
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
        return TestSpark.vanilla(spark);
    }

    private void checkRows(int windowsMin) throws Exception {
        List<String> rows = sink.rows();
        assertThat(rows).hasSizeGreaterThanOrEqualTo(windowsMin);
        assertThat(rows).isEqualTo(StatefulQuery.expected(rows.size()));
    }
}
