package io.afterbay.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Starts the publishers of an application, and at its end publishes what waits. Named in {@code
 * spark.plugins}; it does nothing without {@link AfterbayCheckpointFileManager}, which needs it.
 *
 * <p>Executors publish the state files of their tasks, and report them to the driver, which
 * publishes the log. With {@code local[N]}, the driver's part does it all.
 */
public final class AfterbaySparkPlugin implements SparkPlugin {
    static final String LINE = "Set spark.plugins=" + AfterbaySparkPlugin.class.getName();

    private static final String SPARK = "4.2.";

    @Override
    public DriverPlugin driverPlugin() {
        return new PluginOnDriver(DriverPeers::new);
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new PluginOnExecutor(ExecutorPeers::new);
    }

    /**
     * @throws IllegalStateException with the reason and the way out
     */
    static void check(String sparkVersion) {
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
    }
}
