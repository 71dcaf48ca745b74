package io.afterbay.spark;

import io.afterbay.spark.publish.PublishMetrics;
import io.afterbay.spark.publish.Publisher;
import io.afterbay.spark.publish.Storage;
import io.afterbay.testing.Await;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Objects;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.metrics.source.Source;
import org.apache.spark.sql.SparkSession;

/** Spark in this process, with the plug-in, and with the settings that queries need. */
final class TestSpark {
    private TestSpark() {}

    /** Of the one attempt, however slow the machine is. */
    private static final String HANG_MAX = Await.DEADLINE.toSeconds() + "s";

    static SparkSession.Builder builder() {
        return plugin(
                        settings(SparkSession.builder().master("local[2]")),
                        AfterbaySparkPlugin.class)
                .config("spark.afterbay.commit.attemptsMax", 1)
                .config("spark.afterbay.commit.hangMax", HANG_MAX);
    }

    static SparkSession.Builder plugin(
            SparkSession.Builder builder, Class<? extends SparkPlugin> plugin) {
        return builder.config("spark.plugins", plugin.getName())
                .config(QuerySettings.FILE_MANAGER, AfterbayCheckpointFileManager.class.getName());
    }

    /** A session of Spark alone. */
    static SparkSession vanilla(SparkSession spark) {
        SparkSession session = spark.newSession();
        session.conf().unset(QuerySettings.FILE_MANAGER);
        return session;
    }

    /** Those that stay when we are removed, and those of small tests. */
    static SparkSession.Builder settings(SparkSession.Builder builder) {
        return QuickLocalFiles.in(builder)
                .config("spark.ui.enabled", false)
                .config("spark.sql.shuffle.partitions", 2)
                .config("spark.sql.session.timeZone", "UTC")
                // Of some rows, code is compiled for longer than it runs.
                .config("spark.sql.codegen.wholeStage", false)
                .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
                .config("spark.sql.streaming.stateStore.checkpointFormatVersion", 2)
                .config(
                        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled",
                        true)
                .config("spark.sql.streaming.stateStore.providerClass", PROVIDER)
                .config("spark.sql.streaming.stateStore.maintenanceInterval", "500ms")
                // StateStore.stop waits for threads that may wait for it: as long as these, in s.
                .config("spark.sql.streaming.stateStore.maintenanceShutdownTimeout", 3)
                .config("spark.sql.streaming.stateStore.maintenanceForceShutdownTimeout", 1)
                .config("spark.sql.streaming.stateStore.minDeltasForSnapshot", 3);
    }

    private static final String PROVIDER =
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider";

    /** Of the publisher of a checkpoint that a query has used. */
    static PublishMetrics metrics(Path checkpoint) {
        return publisher(checkpoint).metrics();
    }

    /** Waits until all is published, as the end of the application does. */
    static void drain(Path checkpoint) throws IOException {
        publisher(checkpoint).awaitPublished();
    }

    /** Whether a file of that directory is not published. */
    static boolean waits(Path checkpoint, String directory) throws IOException {
        return publisher(checkpoint).waiting().stream()
                .anyMatch(w -> Path.of(w.target()).getParent().endsWith(directory));
    }

    /** As Spark's sinks of metrics read it. */
    static long metric(String name) {
        Source source =
                SparkEnv.get()
                        .metricsSystem()
                        .getSourcesByName("plugin." + AfterbaySparkPlugin.class.getName())
                        .head();
        return (Long) source.metricRegistry().getGauges().get(name).getValue();
    }

    private static Publisher publisher(Path checkpoint) {
        var commits = new org.apache.hadoop.fs.Path("file:" + checkpoint + "/commits");
        String location = Objects.requireNonNull(CheckpointFiles.location(commits));
        return Checkpoints.process().get(location, new None()).publisher();
    }

    private static final class None implements Storage {
        @Override
        public void write(String target, InputStream content, boolean overwrites) {
            throw new AssertionError(target);
        }

        @Override
        public boolean exists(String target) {
            throw new AssertionError(target);
        }

        @Override
        public boolean isSame(String target, Path local) {
            throw new AssertionError(target);
        }
    }
}
