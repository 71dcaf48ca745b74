package io.afterbay.workloads.nexmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.workloads.run.Backends;
import io.afterbay.workloads.run.HeldEnvironment;
import io.afterbay.workloads.run.RunningJob;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The source continues where it was, and the file holds every row once. */
class RecoveryTest {
    /** The stream takes eight seconds, so failures after the first meet it on its way. */
    private static final double EVENTS_PER_SECOND = 7_500;

    /** Of the events, which have come before a failure. */
    private static final int SHARE = 6;

    /** Of each start, which then waits for the test: less than all, even of two of them. */
    private static final long EVENTS_BEFORE_RELEASE = 20_000;

    @TempDir private Path directory;
    private MiniCluster cluster;

    @BeforeEach
    void start() throws Exception {
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(settings())
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(3)
                                .withRandomPorts()
                                .build());
        cluster.start();
    }

    @AfterEach
    void stop() throws Exception {
        cluster.close();
    }

    @Test
    void rowsAreExactAfterLosingTheTaskManager() throws Exception {
        NexmarkOptions options = options("lost");
        NexmarkStatistics statistics = NexmarkStatistics.of(options.run());
        HeldEnvironment env = new HeldEnvironment(settings(), EVENTS_BEFORE_RELEASE);
        JobID job = submit(env, options, 2);
        RunningJob running = new RunningJob(cluster, job);
        Await.until("it is at work", () -> statistics.accepted() > options.events() / SHARE);
        Await.until(
                "a checkpoint", () -> running.checkpoints().getNumberOfCompletedCheckpoints() >= 1);
        cluster.terminateTaskManager(0).get();
        cluster.startTaskManager();
        env.release();
        finish(job);
        assertExact(options);
        assertThat(statistics.accepted()).isEqualTo(options.events());
        assertThat(running.checkpoints().getNumberOfRestoredCheckpoints()).isPositive();
    }

    @Test
    void aSavepointMovesTheJobToAnotherParallelism() throws Exception {
        NexmarkOptions before = options("before");
        HeldEnvironment env = new HeldEnvironment(settings(), EVENTS_BEFORE_RELEASE);
        JobID first = submit(env, before, 1);
        new RunningJob(cluster, first).awaitAllTasks();
        NexmarkStatistics statistics = NexmarkStatistics.of(before.run());
        Await.until("it is at work", () -> statistics.accepted() > before.events() / SHARE);
        String savepoint =
                cluster.stopWithSavepoint(
                                first,
                                directory.resolve("savepoints").toUri().toString(),
                                false,
                                SavepointFormatType.CANONICAL)
                        .get();
        Configuration settings = settings();
        settings.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        NexmarkOptions after = options("after");
        StreamExecutionEnvironment other =
                StreamExecutionEnvironment.getExecutionEnvironment(settings);
        finish(submit(other, after, 3));
        assertExact(after);
    }

    private NexmarkOptions options(String run) {
        NexmarkOptions sample = Samples.options(Query.Q7_SESSION);
        return new NexmarkOptions(
                sample.query(),
                sample.events(),
                sample.generator(),
                sample.windows(),
                EVENTS_PER_SECOND,
                directory.resolve("rows.csv").toString(),
                "recovery-" + run);
    }

    private Configuration settings() {
        return Backends.settings(
                "io.afterbay.flink.AfterbayStateBackendFactory", directory, Duration.ofMillis(100));
    }

    private JobID submit(StreamExecutionEnvironment env, NexmarkOptions options, int parallelism)
            throws Exception {
        env.setParallelism(parallelism);
        Nexmark.build(env, options);
        return cluster.submitJob(env.getStreamGraph().getJobGraph()).get().getJobID();
    }

    private void finish(JobID job) throws Exception {
        cluster.requestJobResult(job)
                .get()
                .toJobExecutionResult(RecoveryTest.class.getClassLoader());
    }

    private void assertExact(NexmarkOptions options) throws Exception {
        Verification verification = Verification.ofFile(options, Path.of(options.output()));
        assertThat(verification.examples()).isEmpty();
        assertThat(verification.rows()).isGreaterThan(Samples.rowsAtLeast(options.query()));
    }
}
