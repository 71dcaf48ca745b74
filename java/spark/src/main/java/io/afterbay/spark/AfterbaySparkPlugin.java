package io.afterbay.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.afterbay.spark.publish.PublishMetrics;
import io.afterbay.spark.publish.PublishSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.jspecify.annotations.Nullable;

/**
 * Starts the publishers of an application, and at its end publishes what waits. Named in {@code
 * spark.plugins}; it does nothing without {@link AfterbayCheckpointFileManager}, which needs it.
 *
 * <p>In this version driver and executors are one process: {@code local[N]}.
 */
public final class AfterbaySparkPlugin implements SparkPlugin {
    static final String LINE = "Set spark.plugins=" + AfterbaySparkPlugin.class.getName();

    private static final String SPARK = "4.2.";

    @Override
    public DriverPlugin driverPlugin() {
        return new Driver();
    }

    /** None: in one process, the driver's does it all. */
    @Override
    @SuppressWarnings("NullAway") // Spark's interface allows it, and is not annotated
    public ExecutorPlugin executorPlugin() {
        return null;
    }

    /**
     * @throws IllegalStateException with the reason and the way out
     */
    static void check(String sparkVersion, String master) {
        if (!sparkVersion.startsWith(SPARK)) {
            throw new IllegalStateException(
                    "Afterbay needs Spark "
                            + SPARK
                            + "x, and this is "
                            + sparkVersion
                            + ". Remove "
                            + AfterbaySparkPlugin.class.getName()
                            + " from spark.plugins; before Spark 4 there is no checkpoint format 2,"
                            + " which it builds on");
        }
        if (!master.matches("local(\\[.*])?")) {
            throw new IllegalStateException(
                    "Afterbay publishes from one process in this version, and spark.master is "
                            + master
                            + ": executors of their own would lose state. Set"
                            + " spark.master=local[N], or remove "
                            + AfterbaySparkPlugin.class.getName()
                            + " from spark.plugins and "
                            + QuerySettings.FILE_MANAGER);
        }
    }

    private static final class Driver implements DriverPlugin {
        private @Nullable Checkpoints checkpoints;

        @Override
        public Map<String, String> init(SparkContext context, PluginContext plugin) {
            check(context.version(), context.master());
            SparkConf conf = plugin.conf();
            PublishSettings settings = CommitSettings.of(conf);
            checkpoints = new Checkpoints(settings, localDirectory(conf));
            Checkpoints.install(checkpoints);
            return Map.of();
        }

        private static Path localDirectory(SparkConf conf) {
            String first =
                    conf.get("spark.local.dir", System.getProperty("java.io.tmpdir"))
                            .split(",", 2)[0];
            try {
                Path parent = Files.createDirectories(Path.of(first));
                return Files.createTempDirectory(parent, "afterbay-spark");
            } catch (IOException e) {
                throw new UncheckedIOException(
                        "no local copies in " + first + ": set spark.local.dir to a directory", e);
            }
        }

        @Override
        public void registerMetrics(String appId, PluginContext plugin) {
            MetricRegistry registry = plugin.metricRegistry();
            register(registry, "publishedFiles", PublishMetrics::files);
            register(registry, "publishedBytes", PublishMetrics::bytes);
            register(registry, "publishFailures", PublishMetrics::failures);
            register(registry, "publisherRestarts", PublishMetrics::restarts);
            register(registry, "waitingFiles", PublishMetrics::waitingFiles);
            register(registry, "waitingBytes", PublishMetrics::waitingBytes);
        }

        private void register(
                MetricRegistry registry, String name, ToLongFunction<PublishMetrics> value) {
            Gauge<Long> sum = () -> sum(value);
            registry.register(name, sum);
        }

        private long sum(ToLongFunction<PublishMetrics> value) {
            return checkpoints == null ? 0 : checkpoints.metrics().stream().mapToLong(value).sum();
        }

        @Override
        public void shutdown() {
            if (checkpoints != null) {
                Checkpoints.install(null);
                checkpoints.close();
            }
        }
    }
}
