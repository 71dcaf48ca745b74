package io.afterbay.spark;

import io.afterbay.spark.publish.PublishSettings;
import io.afterbay.spark.publish.WrittenStates;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.jspecify.annotations.Nullable;

/** An executor's part: publishes the state files of its tasks, and reports them to the driver. */
final class PluginOnExecutor implements ExecutorPlugin {
    /** Before Spark's own hook (40), which deletes local directories. */
    private static final int HOOK_PRIORITY = 50;

    /** For the last report, when the time for what waits is over. */
    private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** What Spark calls an executor that is in the driver's process. */
    private static final String DRIVER = "driver";

    /** What an executor and its driver tell each other. */
    @FunctionalInterface
    interface PeersOnExecutor {
        Peers of(WrittenStates states, Reporter.Driver driver, long waitNanosMax);
    }

    private final PeersOnExecutor peers;
    private @Nullable Checkpoints checkpoints;
    private @Nullable Reporter reporter;

    PluginOnExecutor(PeersOnExecutor peers) {
        this.peers = peers;
    }

    /** As it is called in reports. */
    static String name(String executorId) {
        return "executor " + executorId;
    }

    @Override
    public void init(PluginContext plugin, Map<String, String> extraConf) {
        if (DRIVER.equals(plugin.executorID())) {
            return; // one process: the driver's part does it all
        }
        SparkConf conf = plugin.conf();
        PublishSettings settings = CommitSettings.of(conf);
        WrittenStates states = new WrittenStates(name(plugin.executorID()));
        Peers toDriver = peers.of(states, plugin::ask, settings.waitNanosMax());
        Checkpoints all = new Checkpoints(settings, LocalCopies.directory(conf), toDriver);
        CommitMetrics.register(plugin.metricRegistry(), all);
        start(new Reporter(states, all::busy, plugin::ask), all, settings);
    }

    private void start(Reporter toDriver, Checkpoints all, PublishSettings settings) {
        try {
            toDriver.start();
        } catch (Exception e) {
            throw new IllegalStateException(
                    "the driver does not answer; is " + AfterbaySparkPlugin.LINE + " there, too?",
                    e);
        }
        reporter = toDriver;
        checkpoints = all;
        Checkpoints.install(all);
        // Spark ends its executors by a message and by a signal at once, and does not wait for
        // the first; the process ends when its hooks have.
        ShutdownHookManager.get()
                .addShutdownHook(
                        this::shutdown,
                        HOOK_PRIORITY,
                        settings.waitNanosMax() + REPORT_NANOS,
                        TimeUnit.NANOSECONDS);
    }

    /** Publishes what waits, and says so. Whoever comes second waits for the first. */
    @Override
    public synchronized void shutdown() {
        if (checkpoints != null && reporter != null) {
            Checkpoints.install(null);
            try {
                checkpoints.close();
            } finally {
                reporter.close();
            }
            checkpoints = null;
        }
    }
}
