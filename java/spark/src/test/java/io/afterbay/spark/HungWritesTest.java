package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.publish.PublishMetrics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A query on Spark, some of whose writes hang: in a session of its own, where that is soon. */
class HungWritesTest {
    private static final String HANG_MAX = "4s";

    /** More than hang, also if the machine stands still for so long now and then. */
    private static final int ATTEMPTS_MAX = 100;

    private static SparkSession spark;

    @TempDir static Path all; // until Spark's maintenance, too, has ended
    private Path dir;
    private TransactionalSink sink;
    private StatefulQuery query;

    @BeforeAll
    static void startSpark() {
        spark =
                TestSpark.builder()
                        .config("spark.afterbay.commit.hangMax", HANG_MAX)
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
        sink = new TransactionalSink(Files.createDirectory(dir.resolve("sink")));
        query = new StatefulQuery(dir.resolve("checkpoint"), sink);
    }

    private static SparkSession ours() {
        SparkSession session = spark.newSession();
        session.conf().set(QuerySettings.UNDERLYING, CrashingFileManager.class.getName());
        return session;
    }

    /** A write hangs, and the one that is begun beside it, too; then a thread is replaced. */
    @Test
    void sparksMetricsSayWhatHung() throws Exception {
        CrashingFileManager.endAfter(Integer.MAX_VALUE, 0);
        long hedges = TestSpark.metric("hedgedWrites");
        long restarts = TestSpark.metric("publisherRestarts");
        long failures = TestSpark.metric("publishFailures");
        query.runTo(ours(), 4); // how long a write takes is known
        TestSpark.drain(dir.resolve("checkpoint"));
        CrashingFileManager.hangNext(2);
        query.runTo(ours(), 6);
        TestSpark.drain(dir.resolve("checkpoint"));
        PublishMetrics ofQuery = TestSpark.metrics(dir.resolve("checkpoint"));
        assertThat(TestSpark.metric("hedgedWrites") - hedges)
                .isEqualTo(ofQuery.hedges())
                .isPositive();
        assertThat(TestSpark.metric("publisherRestarts") - restarts)
                .isEqualTo(ofQuery.restarts())
                .isPositive();
        assertThat(TestSpark.metric("publishFailures") - failures)
                .isEqualTo(ofQuery.failures())
                .isPositive();
        List<String> rows = sink.rows();
        assertThat(rows).isEqualTo(StatefulQuery.expected(rows.size()));
    }
}
