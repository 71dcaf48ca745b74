package io.afterbay.spark;

import java.util.List;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Starts the publishers of an application, and at its end publishes what waits. Named in {@code
 * spark.plugins}; it does nothing without {@link AfterbayCheckpointFileManager}, which needs it, so
 * an application that has only the plug-in does not start.
 *
 * <p>Executors publish the state files of their tasks, and report them to the driver, which
 * publishes the log. With {@code local[N]}, the driver's part does it all.
 */
public final class AfterbaySparkPlugin implements SparkPlugin {
    static final String LINE = "Set spark.plugins=" + AfterbaySparkPlugin.class.getName();

    /** What a local Connect server is started by. */
    private static final String CONNECT = "org.apache.spark.sql.connect.SparkConnectPlugin";

    /** Their tests are in java/spark and, but for 4.2, in java/spark-it. */
    private static final List<String> VERSIONS = List.of("4.1", "4.2", "4.3");

    @Override
    public DriverPlugin driverPlugin() {
        return new PluginOnDriver(DriverPeers::new);
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new PluginOnExecutor(ExecutorPeers::new);
    }

    /**
     * What to do where the plug-in is missing.
     *
     * @param present those that the application has
     */
    static String howToAdd(String present) {
        return present.contains(CONNECT)
                ? "spark.plugins has Spark Connect's only. If you have set it, add "
                        + AfterbaySparkPlugin.class.getName()
                        + " behind a comma. SparkSession.builder.remote(\"local...\") sets it so"
                        + " whatever you say: start a Connect server with Afterbay's settings and"
                        + " name its address (sc://...), or use a session without Connect"
                : LINE;
    }

    /**
     * @throws IllegalStateException with the reason and the way out
     */
    static void check(String sparkVersion) {
        if (VERSIONS.stream().noneMatch(version -> sparkVersion.startsWith(version + "."))) {
            throw new IllegalStateException(
                    "Afterbay needs Spark "
                            + String.join(", ", VERSIONS)
                            + ", and this is "
                            + sparkVersion
                            + ". Remove "
                            + AfterbaySparkPlugin.class.getName()
                            + " from spark.plugins and "
                            + QuerySettings.FILE_MANAGER
                            + "; earlier versions lack what it builds on, and later ones are not"
                            + " tested");
        }
    }
}
