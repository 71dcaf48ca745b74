package io.afterbay.cli;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.scheduler.ExecutionGraphInfo;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Flink in this process, with one job. */
final class EmbeddedEngine implements AutoCloseable {
    static final int RESTARTS_MAX = 3;

    private static final Duration RESTART_DELAY = Duration.ofSeconds(1);

    /** In an open loop, records must not wait for a full buffer. */
    private static final Duration OPEN_LOOP_BUFFER_TIMEOUT = Duration.ofMillis(5);

    private static final long ANSWER_SECONDS_MAX = 5;
    private static final long CLOSE_SECONDS_MAX = 10;

    private final EngineArguments arguments;
    private final MemorySplit memory;
    private final Path directory;
    private final MiniCluster cluster;
    private JobID jobId = new JobID();

    EmbeddedEngine(EngineArguments arguments, MemorySplit memory, Path directory) {
        this.arguments = arguments;
        this.memory = memory;
        this.directory = directory;
        this.cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(clusterSettings())
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(arguments.parallelism)
                                .withRandomPorts()
                                .build());
    }

    /** Starts the job; the future completes when it has ended in any way. */
    CompletableFuture<JobResult> start(Job job) throws Exception {
        cluster.start();
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(jobSettings(job));
        environment.setParallelism(arguments.parallelism);
        job.build(environment);
        JobGraph graph = environment.getStreamGraph().getJobGraph();
        jobId = cluster.submitJob(graph).get().getJobID();
        return cluster.requestJobResult(jobId);
    }

    void cancel() {
        var unused = cluster.cancelJob(jobId);
    }

    /** What the engine knows about the job, unless it is too busy to answer. */
    Optional<ExecutionGraphInfo> job() throws InterruptedException {
        try {
            return Optional.of(
                    cluster.getExecutionGraphInfo(jobId).get(ANSWER_SECONDS_MAX, TimeUnit.SECONDS));
        } catch (ExecutionException | TimeoutException e) {
            return Optional.empty();
        }
    }

    private Configuration clusterSettings() {
        Configuration settings = new Configuration();
        settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, flink(memory.state()));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MIN, flink(memory.network()));
        settings.set(TaskManagerOptions.NETWORK_MEMORY_MAX, flink(memory.network()));
        settings.set(RestOptions.ADDRESS, "localhost");
        settings.set(RestOptions.BIND_ADDRESS, "localhost");
        settings.set(CoreOptions.TMP_DIRS, directory.toString());
        settings.set(CoreOptions.CHECK_LEAKED_CLASSLOADER, false);
        return settings;
    }

    private Configuration jobSettings(Job job) {
        Configuration settings = new Configuration();
        arguments.backend.configure(settings);
        settings.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                directory.resolve("checkpoints").toUri().toString());
        if (!arguments.checkpointInterval.isZero()) {
            settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, arguments.checkpointInterval);
        }
        // The job's files need no last checkpoint: a failure after the end of the input goes back
        // to the checkpoint before, and waiting for one more would only delay the end.
        settings.set(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH, false);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, RESTARTS_MAX);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, RESTART_DELAY);
        if (job.isOpenLoop()) {
            settings.set(ExecutionOptions.BUFFER_TIMEOUT, OPEN_LOOP_BUFFER_TIMEOUT);
        }
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
