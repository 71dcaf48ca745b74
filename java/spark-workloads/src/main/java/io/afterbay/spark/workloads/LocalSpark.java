package io.afterbay.spark.workloads;

import io.afterbay.dfs.SlowFileSystem;
import io.afterbay.workloads.microbatch.MicroBatchPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.package$;
import org.apache.spark.sql.SparkSession;

/** Spark in this process, driver and executor in one, with the settings of a plan. */
final class LocalSpark implements AutoCloseable {
    static final String VERSION = package$.MODULE$.SPARK_VERSION();
    private static final String STREAMING = "spark.sql.streaming.";

    private final SparkSession session;

    private LocalSpark(SparkSession session) {
        this.session = session;
    }

    /**
     * Starts it.
     *
     * @param directory for Spark's local files
     * @throws RunFailure if a setting is refused
     */
    static LocalSpark start(MicroBatchPlan plan, Path directory) throws RunFailure, IOException {
        Path local = Files.createDirectories(directory.resolve("spark-local"));
        SparkSession.Builder builder =
                SparkSession.builder()
                        .master("local[" + processors() + "]")
                        .appName("afterbay bench spark")
                        .config("spark.ui.enabled", false)
                        .config("spark.driver.host", "localhost")
                        .config("spark.driver.bindAddress", "127.0.0.1")
                        .config("spark.local.dir", local.toString())
                        .config("spark.sql.session.timeZone", "UTC")
                        .config("spark.sql.shuffle.partitions", plan.partitions())
                        .config(STREAMING + "numRecentProgressUpdates", Integer.MAX_VALUE)
                        // StateStore.stop waits for threads that may wait for it: so many seconds.
                        .config(STREAMING + "stateStore.maintenanceShutdownTimeout", 3);
        slow(builder, plan);
        plan.settings().forEach(builder::config);
        try {
            return new LocalSpark(builder.getOrCreate());
        } catch (Exception e) { // Scala's methods declare none
            throw new RunFailure(e);
        }
    }

    private static void slow(SparkSession.Builder builder, MicroBatchPlan plan) {
        String prefix = "spark.hadoop.fs." + SlowFileSystem.SCHEME + ".";
        builder.config(prefix + "impl", SlowFileSystem.class.getName())
                .config(prefix + "metadata-ms", 5)
                .config(prefix + "close-ms", 30)
                .config(prefix + "bytes-per-s", 50_000_000)
                .config(prefix + "stalls-permille", 10)
                .config(prefix + "stall-ms", 500)
                .config(prefix + "seed", plan.seed());
    }

    /** Tasks at once. */
    static int processors() {
        return Runtime.getRuntime().availableProcessors();
    }

    SparkSession session() {
        return session;
    }

    @Override
    public void close() {
        session.stop();
    }
}
