package io.afterbay.orphans;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.apache.flink.runtime.highavailability.nonha.embedded.HaLeadershipControl;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * A job with incremental checkpoints, which are retained, of the Afterbay backend if the options do
 * not say otherwise. Its sums are right only if state and source go on exactly from where they
 * were.
 */
final class CountingJob implements AutoCloseable {
    private static final int PARALLELISM = 2;
    private static final int KEYS = 100;
    private static final long ELEMENTS = 50_000;

    /** Of each task: they come faster than the others, which are there for longer than any test. */
    private static final long FAST_ELEMENTS = 5_000;

    private static final long TIMEOUT_SECONDS = Await.DEADLINE.toSeconds();
    private static final Map<Long, Long> SUMS = new ConcurrentHashMap<>();
    private static volatile boolean isHurried;

    /** The source's tasks hold back what they say of a checkpoint, behind the barrier. */
    private static volatile boolean isHeld;

    private final Path storage;
    private final Map<String, String> options;
    private final MiniCluster cluster =
            new MiniCluster(
                    new MiniClusterConfiguration.Builder()
                            .setNumTaskManagers(1)
                            .setNumSlotsPerTaskManager(2)
                            .setHaServices(MiniCluster.HaServices.WITH_LEADERSHIP_CONTROL)
                            .withRandomPorts()
                            .build());

    /**
     * @param storage directory of checkpoints
     * @param options further ones of Flink
     */
    CountingJob(Path storage, Map<String, String> options) throws Exception {
        this.storage = storage;
        this.options = options;
        cluster.start();
    }

    /** Runs for so many checkpoints, and is cancelled; returns the last one. */
    Path runAndCancel(int checkpoints) throws Exception {
        return runAndCancel(taken -> taken >= checkpoints);
    }

    /** Runs until so many checkpoints are enough, and is cancelled; returns the last one. */
    Path runAndCancel(IntPredicate areEnough) throws Exception {
        JobID job = start(SavepointRestoreSettings.none());
        String last = checkpoint(job);
        for (int taken = 1; !areEnough.test(taken); taken++) {
            last = checkpoint(job);
        }
        cancel(job);
        return Path.of(java.net.URI.create(last).getPath());
    }

    /** Starts it; it takes no checkpoints by itself, and does not come to its end soon. */
    JobID start(SavepointRestoreSettings restore) throws Exception {
        isHurried = false;
        return submit(restore);
    }

    void cancel(JobID job) throws Exception {
        cluster.cancelJob(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertThat(result(job).getJobStatus().orElseThrow()).isEqualTo(JobStatus.CANCELED);
    }

    /** The JobManager that runs it loses the job, and another one goes on from its checkpoint. */
    void failOver(JobID job) throws Exception {
        HaLeadershipControl leadership = cluster.getHaLeadershipControl().orElseThrow();
        leadership.revokeJobMasterLeadership(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        isHeld = false;
        leadership.grantJobMasterLeadership(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /**
     * Begins a checkpoint that does not come to its end before {@link #failOver}: the tasks with
     * keyed state have said what they have written for it, those of the source have not.
     */
    void beginCheckpoint(JobID job) throws Exception {
        isHeld = true;
        var checkpoint = cluster.triggerCheckpoint(job);
        Await.until(
                "tasks with keyed state acknowledge",
                () -> {
                    assertThat(checkpoint).isNotDone();
                    return acknowledged(job) >= PARALLELISM;
                });
    }

    /** Tasks that have acknowledged the checkpoint which is under way. */
    private int acknowledged(JobID job) throws Exception {
        return cluster
                .getExecutionGraph(job)
                .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
                .getCheckpointStatsSnapshot()
                .getHistory()
                .getCheckpoints()
                .stream()
                .filter(c -> c.getStatus() == CheckpointStatsStatus.IN_PROGRESS)
                .mapToInt(AbstractCheckpointStats::getNumberOfAcknowledgedSubtasks)
                .sum();
    }

    /** A checkpoint that refers to no file of another. */
    void fullCheckpoint(JobID job) throws Exception {
        cluster.triggerCheckpoint(job, CheckpointType.FULL).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** Takes a checkpoint as soon as all tasks run; returns its path. */
    String checkpoint(JobID job) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (true) {
            try {
                Thread.sleep(200); // so that there is something new
                return cluster.triggerCheckpoint(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) { // not all tasks run yet
                if (status(job).isGloballyTerminalState() || System.nanoTime() > deadline) {
                    result(job).getSerializedThrowable().ifPresent(e::addSuppressed);
                    throw e;
                }
            }
        }
    }

    /** Restores a checkpoint, runs to the end, and checks what came out. */
    void finishFrom(Path checkpoint) throws Exception {
        SUMS.clear();
        isHurried = true;
        JobID job = submit(SavepointRestoreSettings.forPath(checkpoint.toUri().toString()));
        result(job).toJobExecutionResult(CountingJob.class.getClassLoader());
        Map<Long, Long> expected = new HashMap<>();
        for (long i = 0; i < ELEMENTS; i++) {
            expected.merge(i % KEYS, i, Long::sum);
        }
        assertThat(SUMS).isEqualTo(expected);
    }

    private JobStatus status(JobID job) throws Exception {
        return cluster.getJobStatus(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private JobResult result(JobID job) throws Exception {
        return cluster.requestJobResult(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private JobID submit(SavepointRestoreSettings restore) throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration());
        env.setParallelism(PARALLELISM);
        env.fromSequence(0, ELEMENTS - 1)
                .uid("source")
                .map(new Pace())
                .uid("pace")
                .keyBy(i -> i % KEYS, Types.LONG)
                .process(new Sums())
                .uid("sums")
                .sinkTo(new DiscardingSink<>())
                .uid("sink");
        JobGraph job = env.getStreamGraph().getJobGraph();
        job.setSavepointRestoreSettings(restore);
        cluster.submitJob(job).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        return job.getJobID();
    }

    private Configuration configuration() {
        Configuration configuration = new Configuration();
        configuration.set(
                StateBackendOptions.STATE_BACKEND, "io.afterbay.flink.AfterbayStateBackendFactory");
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofHours(1));
        configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, storage.toUri().toString());
        configuration.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.ZERO);
        configuration.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        configuration.set(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH, false);
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        options.forEach(configuration::setString);
        return configuration;
    }

    @Override
    public void close() throws Exception {
        isHeld = false; // in a test that failed
        cluster.close();
    }

    /** Keeps the source from its end; behind the exchange it would be there at once. */
    private static final class Pace implements MapFunction<Long, Long>, CheckpointedFunction {
        private static final long serialVersionUID = 1L;

        @Override
        public void initializeState(FunctionInitializationContext context) {}

        @Override
        public void snapshotState(FunctionSnapshotContext context) throws InterruptedException {
            while (isHeld) {
                Thread.sleep(20);
            }
        }

        @Override
        public Long map(Long element) throws InterruptedException {
            if (!isHurried) {
                Thread.sleep(element % (ELEMENTS / PARALLELISM) < FAST_ELEMENTS ? 1 : 50);
            }
            return element;
        }
    }

    private static final class Sums extends KeyedProcessFunction<Long, Long, Long> {
        private static final long serialVersionUID = 1L;
        private transient ValueState<Long> sum;
        private transient ListState<Long> elements;

        @Override
        public void open(OpenContext context) {
            sum = getRuntimeContext().getState(new ValueStateDescriptor<>("sum", Types.LONG));
            elements =
                    getRuntimeContext()
                            .getListState(new ListStateDescriptor<>("elements", Types.LONG));
        }

        @Override
        public void processElement(Long element, Context context, Collector<Long> out)
                throws Exception {
            Long before = sum.value();
            long now = before == null ? element : before + element;
            sum.update(now);
            elements.add(element);
            SUMS.put(context.getCurrentKey(), now);
        }
    }
}
