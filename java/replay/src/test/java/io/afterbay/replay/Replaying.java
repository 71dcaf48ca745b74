package io.afterbay.replay;

import io.afterbay.replay.merge.MergeFigures;
import io.afterbay.testing.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.util.Collector;

/**
 * A cluster within the test and jobs on it that count each record in keyed state. At the end of
 * their input, and only then, they say what is in that state; so what a failure lost or doubled
 * shows.
 */
final class Replaying implements AutoCloseable {
    static final int PARALLELISM = 2;

    /** In the job's state at its end: how often each record was counted. */
    static final Map<Long, Integer> COUNTED = new ConcurrentHashMap<>();

    /** How many records passed the source, in all attempts. */
    static final AtomicLong PASSED = new AtomicLong();

    /** When so many have passed, the next record fails the job, once. */
    private static final AtomicLong FAIL_AT = new AtomicLong();

    private static final long NEVER = Long.MAX_VALUE;

    private static Path checkpoints = Path.of("");

    private final MiniCluster cluster;
    private final URI controlDirectory;
    final ReplayControl control;

    Replaying(Path directory) throws Exception {
        COUNTED.clear();
        PASSED.set(0);
        FAIL_AT.set(NEVER);
        checkpoints = directory.resolve("checkpoints");
        controlDirectory = directory.resolve("control").toUri();
        control = new ReplayControl(controlDirectory);
        control.setRate(Double.POSITIVE_INFINITY);
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(new Configuration())
                                .setNumTaskManagers(1)
                                // For a live job beside.
                                .setNumSlotsPerTaskManager(2 * PARALLELISM)
                                .withRandomPorts()
                                .build());
        cluster.start();
    }

    static StreamExecutionEnvironment environment() {
        Configuration settings = new Configuration();
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 3);
        settings.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
        settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofHours(1));
        settings.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints.toUri().toString());
        settings.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        settings.set(CoreOptions.DEFAULT_PARALLELISM, PARALLELISM);
        return StreamExecutionEnvironment.getExecutionEnvironment(settings);
    }

    /** The job, without its source. */
    static void count(DataStream<Long> records) {
        records.map(new Passing())
                .uid("passing")
                .keyBy(record -> record)
                .process(new Counting())
                .uid("counting")
                .sinkTo(new DiscardingSink<>());
    }

    List<String> rewrite(StreamGraph job, ReplayRange range) throws ReplayRefusedException {
        return ReplayGraph.rewrite(identified(job), range, "r1", controlDirectory);
    }

    List<String> rewrite(StreamGraph job, ReplayRange range, MergePlan merge)
            throws ReplayRefusedException {
        return ReplayGraph.rewrite(identified(job), range, "r1", controlDirectory, merge);
    }

    /** As whoever sends it does before it is rewritten. */
    static StreamGraph identified(StreamGraph job) {
        job.setJobId(new JobID());
        return job;
    }

    /** As it is. */
    JobID submit(StreamGraph job) throws Exception {
        identified(job).serializeUserDefinedInstances();
        return cluster.submitJob(job).get().getJobID();
    }

    JobID replay(StreamGraph job, ReplayRange range) throws Exception {
        rewrite(job, range);
        return submit(job);
    }

    /** From a checkpoint or savepoint. */
    JobID replay(StreamGraph job, ReplayRange range, String from) throws Exception {
        rewrite(job, range);
        return submit(job, from);
    }

    JobID submit(StreamGraph job, String from) throws Exception {
        Configuration settings = new Configuration();
        settings.set(StateRecoveryOptions.SAVEPOINT_PATH, from);
        job.setSavepointRestoreSettings(SavepointRestoreSettings.fromConfiguration(settings));
        return submit(job);
    }

    MiniCluster cluster() {
        return cluster;
    }

    /** Throws what the job failed with. */
    void finish(JobID job) throws Exception {
        CompletableFuture<JobResult> result = cluster.requestJobResult(job);
        Await.until("the job has ended", () -> result.isDone() || checkpointed(job));
        result.get().toJobExecutionResult(Replaying.class.getClassLoader());
    }

    /**
     * Tasks that have ended wait for a last checkpoint, and ours come only when they are asked for.
     */
    private boolean checkpointed(JobID job) {
        var unused = cluster.triggerCheckpoint(job);
        return false;
    }

    /** Before, whatever is taken of its state is refused. */
    void awaitRunning(JobID job) throws Exception {
        Await.until(
                "all tasks run",
                () ->
                        cluster.getJobStatus(job).get() == JobStatus.RUNNING
                                && cluster
                                        .getExecutionGraph(job)
                                        .get()
                                        .getAllVertices()
                                        .values()
                                        .stream()
                                        .allMatch(
                                                vertex ->
                                                        vertex.getAggregateState()
                                                                == ExecutionState.RUNNING));
    }

    void checkpoint(JobID job) throws Exception {
        awaitRunning(job);
        cluster.triggerCheckpoint(job).get();
    }

    /** Where the newest checkpoint of a job lies, which stays when the job is cancelled. */
    String latestCheckpoint(JobID job) throws Exception {
        return cluster.getExecutionGraph(job)
                .get()
                .getCheckpointStatsSnapshot()
                .getHistory()
                .getLatestCompletedCheckpoint()
                .getExternalPath();
    }

    /** The next record fails the job, once; returns when it has. */
    static void failOnce() throws Exception {
        failAt(0);
        awaitFailure();
    }

    /** The record behind so many, of all attempts, fails the job, once. */
    static void failAt(long passed) {
        FAIL_AT.set(passed);
    }

    static void awaitFailure() throws Exception {
        Await.until("it has failed", () -> FAIL_AT.get() == NEVER);
    }

    static void awaitPassed(long records) throws Exception {
        Await.until(() -> records + " passed, not " + PASSED, () -> PASSED.get() >= records);
    }

    void cancel(JobID job) throws Exception {
        cluster.cancelJob(job).get();
        Await.until("it is cancelled", () -> cluster.getJobStatus(job).get() == JobStatus.CANCELED);
    }

    Optional<MergeFigures> merged() {
        try {
            return control.merged();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The last progress, which may come after the job's result. */
    ReplayProgress lastProgress() throws Exception {
        Await.until(
                () -> "its end is told: " + progress(),
                () -> control.progress().map(ReplayProgress::hasEnded).orElse(false));
        return progress();
    }

    ReplayProgress progress() throws Exception {
        return control.progress().orElseThrow();
    }

    @Override
    public void close() throws Exception {
        cluster.close();
    }

    static final class Passing extends RichMapFunction<Long, Long> {
        private static final long serialVersionUID = 1;

        @Override
        public Long map(Long record) {
            long failAt = FAIL_AT.get();
            if (PASSED.get() >= failAt && FAIL_AT.compareAndSet(failAt, NEVER)) {
                throw new IllegalStateException("as the test wants it");
            }
            PASSED.incrementAndGet();
            return record;
        }
    }

    private static final class Counting extends KeyedProcessFunction<Long, Long, Long> {
        private static final long serialVersionUID = 1;

        private transient ValueState<Integer> count;

        @Override
        public void open(OpenContext context) {
            count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.INT));
        }

        @Override
        public void processElement(Long record, Context context, Collector<Long> out)
                throws Exception {
            Integer known = count.value();
            count.update(known == null ? 1 : known + 1);
            // At the watermark of the end, which is larger than any of a record.
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE - 1);
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<Long> out)
                throws Exception {
            COUNTED.put(context.getCurrentKey(), count.value());
        }
    }
}
