package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** From a query of format 1 to us, and away from us. */
@Timeout(180)
class MigrationTest {
    private static final String FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion";
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
        SparkSession session = spark.newSession();
        session.conf().set(FORMAT, format);
        return session;
    }

    private static SparkSession ours() {
        SparkSession session = spark.newSession();
        session.conf()
                .set(QuerySettings.FILE_MANAGER, AfterbayCheckpointFileManager.class.getName());
        return session;
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
                .hasStackTraceContaining("its state has format 1")
                .hasStackTraceContaining("Start the query with a new checkpointLocation")
                .hasStackTraceContaining(FORMAT + "=1 to go on without Afterbay");
        assertThat(files()).isEqualTo(before);
        query.runTo(vanilla(1), 8);
        assertThat(sink.rows()).isEqualTo(StatefulQuery.expected(sink.rows().size()));
    }

    /** Without snapshots, which Spark's maintenance of the first session may still upload. */
    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.walk(dir.resolve("checkpoint"))) {
            return files.map(Path::toString)
                    .filter(name -> !name.contains(".zip") && !name.contains("/SSTs"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void withoutFormat2TheQueryFailsAndGoesOnWhenItIsSetAgain() throws Exception {
        query.runTo(ours(), 5);
        TestSpark.drain(dir.resolve("checkpoint"));
        assertThat(query.runToFailure(vanilla(1)))
                .hasStackTraceContaining("CANNOT_LOAD_STATE_STORE")
                .hasStackTraceContaining("NumberFormatException: For input string: \"");
        query.runTo(vanilla(2), 10);
        query.runTo(ours(), 14);
        assertThat(sink.rows()).hasSizeGreaterThan(4);
        assertThat(sink.rows()).isEqualTo(StatefulQuery.expected(sink.rows().size()));
    }
}
