package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import io.afterbay.testing.LongForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From a query of format 1 to us, and away from us. */
class MigrationTest {
    private static final String FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion";

    /** What Afterbay says to state of format 1. */
    private static final String HAS_FORMAT_1 = "its state has format 1";

    /** What Spark says to state of format 2 that it takes for format 1. */
    static final String WITHOUT_FORMAT_2 = "CANNOT_LOAD_STATE_STORE";

    /** And of what: the first where there are snapshots, else the second. */
    static final String[] WITHOUT_FORMAT_2_CAUSES = {
        "NumberFormatException: For input string: \"", ".changelog does not exist"
    };

    /** What Spark says in format 2 of a batch whose state was not run. */
    private static final String FILE_SINK_HAS_BATCH = "CheckpointInfo length: 0";

    private static final int RUNS = 4;
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
        sink = new TransactionalSink(Files.createDirectory(dir.resolve("sink")));
        query = new StatefulQuery(dir.resolve("checkpoint"), sink);
    }

    private static SparkSession vanilla(int format) {
        SparkSession session = TestSpark.vanilla(spark);
        session.conf().set(FORMAT, format);
        return session;
    }

    private static SparkSession ours() {
        return spark.newSession();
    }

    /** If this fails, Spark has learned it: then we need not refuse it. */
    @Test
    void sparkCannotGoOnInFormat2() throws Exception {
        query.runTo(vanilla(1), 3);
        assertThat(query.runToFailure(vanilla(2))).hasStackTraceContaining("None.get");
    }

    @Test
    void refusesStateOfFormat1BeforeAnythingIsWritten() throws Exception {
        query.runTo(vanilla(1), 3);
        List<String> before = files();
        assertThatThrownBy(() -> query.start(ours()).awaitTermination())
                .hasStackTraceContaining(HAS_FORMAT_1)
                .hasStackTraceContaining("Start the query with a new checkpointLocation")
                .hasStackTraceContaining(FORMAT + "=1 to go on without Afterbay");
        assertThat(files()).isEqualTo(before);
        query.runTo(vanilla(1), 8);
        assertThat(sink.rows()).isEqualTo(StatefulQuery.expected(sink.rows().size()));
    }

    /** Its source begins where it is told to; this one at its beginning. */
    @Test
    @LongForm
    void withANewCheckpointTheQueryBeginsAgain() throws Exception {
        query.runTo(vanilla(1), 5);
        TransactionalSink again =
                new TransactionalSink(Files.createDirectory(dir.resolve("another-sink")));
        Path checkpoint = dir.resolve("new-checkpoint");
        new StatefulQuery(checkpoint, again).runTo(ours(), 5);
        TestSpark.drain(checkpoint);
        assertThat(again.rows()).isNotEmpty();
        assertThat(again.rows()).isEqualTo(StatefulQuery.expected(again.rows().size()));
    }

    @Test
    @LongForm
    void inFormat1SparksFileSinkPassesOverBatchesOfANewCheckpoint() throws Exception {
        long rows = rowsOfFiles(vanilla(1), "checkpoint", "table");
        assertThat(rows).isPositive();
        assertThat(rowsOfFiles(vanilla(1), "new-checkpoint", "table")).isEqualTo(rows);
        assertThat(rowsOfFiles(vanilla(1), "newer-checkpoint", "new-table")).isEqualTo(rows);
    }

    /** If this fails, Spark has learned it: then we need not refuse its file sink. */
    @Test
    @LongForm
    void inFormat2SparkDoesNotGoOnIfItsFileSinkHasTheBatch() throws Exception {
        rowsOfFiles(vanilla(2), "checkpoint", "table");
        Path commits = dir.resolve("checkpoint/commits");
        long last = LiveTree.files(commits).stream().filter(MigrationTest::isCommit).count() - 1;
        delete(commits, last); // as if it had died before
        assertThatThrownBy(() -> rowsOfFiles(vanilla(2), "checkpoint", "table"))
                .hasStackTraceContaining(FILE_SINK_HAS_BATCH);
        delete(dir.resolve("table/_spark_metadata"), last); // the way out in docs/spark.md
        assertThat(rowsOfFiles(vanilla(2), "checkpoint", "table")).isPositive();
    }

    private static void delete(Path log, long batch) throws IOException {
        Files.delete(log.resolve(Long.toString(batch)));
        Files.deleteIfExists(log.resolve("." + batch + ".crc"));
    }

    private static boolean isCommit(Path file) {
        return file.getFileName().toString().matches("\\d+");
    }

    @Test
    void refusesSparksFileSinkBehindState() throws Exception {
        assertThatThrownBy(() -> rowsOfFiles(ours(), "checkpoint", "table"))
                .hasStackTraceContaining("does not support state in front of Spark's file sink")
                .hasStackTraceContaining(FILE_SINK_HAS_BATCH)
                .hasStackTraceContaining("Use foreachBatch, and run the rows of a batch");
        assertThat(dir.resolve("checkpoint/offsets/0")).doesNotExist();
    }

    @Test
    void allowsSparksFileSinkWithoutState() throws Exception {
        StatefulQuery.generated(ours())
                .writeStream()
                .format("json")
                .option("path", dir.resolve("table").toString())
                .option("checkpointLocation", dir.resolve("checkpoint").toString())
                .trigger(Trigger.AvailableNow())
                .start()
                .awaitTermination();
        assertThat(dir.resolve("checkpoint/commits/0")).exists();
    }

    /** After some batches more. */
    private long rowsOfFiles(SparkSession session, String checkpoint, String table)
            throws Exception {
        String path = dir.resolve(table).toString();
        for (int run = 0; run < RUNS; run++) {
            StatefulQuery.counts(StatefulQuery.generated(session))
                    .writeStream()
                    .format("json")
                    .option("path", path)
                    .option("checkpointLocation", dir.resolve(checkpoint).toString())
                    .trigger(Trigger.AvailableNow())
                    .start()
                    .awaitTermination();
        }
        return session.read().json(path).count();
    }

    @Test
    void theGuideHasTheseErrors() throws Exception {
        assertThat(Files.readString(Path.of("../../docs/spark.md")))
                .contains(HAS_FORMAT_1, FILE_SINK_HAS_BATCH, WITHOUT_FORMAT_2)
                .contains(WITHOUT_FORMAT_2_CAUSES);
    }

    /** Without snapshots, which Spark's maintenance of the first session may still upload. */
    private List<String> files() throws IOException {
        return LiveTree.files(dir.resolve("checkpoint")).stream()
                .map(Path::toString)
                .filter(name -> !name.contains(".zip") && !name.contains("/SSTs"))
                .sorted()
                .toList();
    }

    @Test
    void withoutFormat2TheQueryFailsAndGoesOnWhenItIsSetAgain() throws Exception {
        runToSnapshot(5);
        TestSpark.drain(dir.resolve("checkpoint"));
        assertThat(query.runToFailure(vanilla(1)))
                .hasStackTraceContaining(WITHOUT_FORMAT_2)
                .hasStackTraceContaining(WITHOUT_FORMAT_2_CAUSES[0]);
        query.runTo(vanilla(2), sink.last() + 5);
        query.runTo(ours(), sink.last() + 4);
        assertThat(sink.rows()).hasSizeGreaterThan(4);
        assertThat(sink.rows()).isEqualTo(StatefulQuery.expected(sink.rows().size()));
    }

    /** And until Spark's maintenance has uploaded a snapshot, which it does when it has time. */
    private void runToSnapshot(long batch) throws Exception {
        StreamingQuery running = query.start(ours());
        try {
            Await.until(
                    "a snapshot",
                    () -> {
                        assertThat(running.isActive()).isTrue();
                        return sink.last() >= batch && hasSnapshot();
                    });
        } finally {
            running.stop();
        }
    }

    private boolean hasSnapshot() throws IOException {
        return LiveTree.files(dir.resolve("checkpoint/state")).stream()
                .anyMatch(file -> file.toString().endsWith(".zip"));
    }
}
