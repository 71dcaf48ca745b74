package io.afterbay.cli.engine;

import io.afterbay.cli.metrics.EngineMetrics;
import io.afterbay.cli.metrics.EngineMetricsReporter;
import io.afterbay.command.ByteSize;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.client.program.MiniClusterClient;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.jspecify.annotations.Nullable;

/** Flink in this process, for the jobs of one run. */
public final class EmbeddedEngine implements Engine, AutoCloseable {
    private static final Duration RESTART_DELAY = Duration.ofSeconds(1);

    /** Enough for the timeline of a comparison. */
    private static final int CHECKPOINTS_KEPT = 1000;

    /** Of latency markers: often enough for percentiles, too seldom to cost anything. */
    private static final Duration MARKER_INTERVAL = Duration.ofMillis(100);

    private static final long ANSWER_SECONDS_MAX = 5;
    private static final long CLOSE_SECONDS_MAX = 10;

    private final EngineSettings engine;
    private final Path directory;
    private final MiniCluster cluster;
    private final Submissions<MiniClusterClient.MiniClusterId> submissions;
    private @Nullable RestorePoint start;

    /**
     * @param metered whether events and latencies are taken from Flink's metrics
     */
    public EmbeddedEngine(EngineSettings engine, Path directory, boolean metered) {
        this.engine = engine;
        this.directory = directory;
        this.cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(clusterSettings(metered))
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(engine.parallelism())
                                .withRandomPorts()
                                .build());
        this.submissions =
                new Submissions<>(() -> new MiniClusterClient(new Configuration(), cluster));
    }

    /** Jobs that are started from now on go on from there. */
    public void from(RestorePoint point) {
        this.start = point;
    }

    /** Starts the cluster, without a job. */
    public void start() throws Exception {
        cluster.start();
    }

    @Override
    public Submissions<?> submissions() {
        return submissions;
    }

    @Override
    public Backend backend() {
        return engine.backend();
    }

    @Override
    public int slots() {
        return engine.parallelism();
    }

    @Override
    public boolean isRemote() {
        return false;
    }

    public void cancel() {
        submissions.cancel();
    }

    /** Makes room for another job. */
    public void cancelRunning() {
        submissions.cancelRunning();
    }

    /** The checkpoints of the newest job, unless the engine is too busy to answer. */
    public List<AbstractCheckpointStats> checkpoints() throws InterruptedException {
        try {
            List<Submissions.Submitted> jobs = submissions.jobs();
            return cluster.getArchivedExecutionGraph(jobs.get(jobs.size() - 1).id())
                    .thenApply(AccessExecutionGraph::getCheckpointStatsSnapshot)
                    .get(ANSWER_SECONDS_MAX, TimeUnit.SECONDS)
                    .getHistory()
                    .getCheckpoints();
        } catch (ExecutionException | TimeoutException e) {
            return List.of();
        }
    }

    /** What the engine knows about its jobs, unless it is too busy to answer. */
    public Optional<EngineFigures> figures() throws InterruptedException {
        try {
            EngineFigures figures = EngineFigures.NONE;
            for (Submissions.Submitted job : submissions.jobs()) {
                figures =
                        figures.plus(
                                EngineFigures.of(
                                        cluster.getExecutionGraphInfo(job.id())
                                                .get(ANSWER_SECONDS_MAX, TimeUnit.SECONDS)));
            }
            return Optional.of(figures);
        } catch (ExecutionException | TimeoutException e) {
            return Optional.empty();
        }
    }

    private Configuration clusterSettings(boolean metered) {
        Configuration settings = new Configuration();
        settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, flink(engine.memory().managed()));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MIN, flink(engine.memory().network()));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MAX, flink(engine.memory().network()));
        settings.set(RestOptions.ADDRESS, "localhost");
        settings.set(RestOptions.BIND_ADDRESS, "localhost");
        settings.set(WebOptions.CHECKPOINTS_HISTORY_SIZE, CHECKPOINTS_KEPT);
        settings.set(CoreOptions.TMP_DIRS, directory.toString());
        settings.set(CoreOptions.CHECK_LEAKED_CLASSLOADER, false);
        if (metered) {
            meter(settings);
        }
        engine.addTo(settings);
        return settings;
    }

    private static void meter(Configuration settings) {
        settings.setString(
                "metrics.reporter.afterbay.factory.class",
                EngineMetricsReporter.Factory.class.getName());
        settings.set(MetricOptions.LATENCY_INTERVAL, MARKER_INTERVAL);
        settings.set(MetricOptions.LATENCY_HISTORY_SIZE, EngineMetrics.LATENCY_HISTORY);
    }

    @Override
    public Configuration jobSettings(boolean openLoop) {
        Configuration settings = new Configuration();
        settings.set(DeploymentOptions.TARGET, submissions.getName());
        settings.set(DeploymentOptions.ATTACHED, true);
        settings.set(CoreOptions.DEFAULT_PARALLELISM, engine.parallelism());
        engine.backend().configure(settings);
        engine.checkpoints(settings, directory);
        if (start != null) {
            settings.set(StateRecoveryOptions.SAVEPOINT_PATH, start.path().toString());
        }
        if (!engine.checkpointInterval().isZero()) {
            settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, engine.checkpointInterval());
        }
        // The job's files need no last checkpoint: a failure after the end of the input goes back
        // to the checkpoint before, and waiting for one more would only delay the end.
        settings.set(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH, false);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, engine.restartsMax());
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, RESTART_DELAY);
        if (openLoop) {
            settings.set(ExecutionOptions.BUFFER_TIMEOUT, OPEN_LOOP_BUFFER_TIMEOUT);
        }
        engine.addTo(settings);
        return settings;
    }

    private static MemorySize flink(ByteSize size) {
        return new MemorySize(size.bytes());
    }

    /**
     * Stops the engine, but does not wait for a task that cannot be stopped: RocksDB, for example,
     * waits in native code for a full disk to become empty.
     */
    @Override
    public void close() throws InterruptedException {
        try {
            cluster.closeAsync().get(CLOSE_SECONDS_MAX, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // The process ends anyway.
        }
    }
}
