package io.afterbay.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.contract.BackendUnderTest;
import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.util.MiniClusterWithClientResource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job that cannot keep up, whose barriers overtake what is on its way, fails and goes on. */
class UnalignedJobTest {
    private static final long ELEMENTS = 6000;

    private static MiniClusterWithClientResource cluster;

    @TempDir private Path directory;

    /** Small buffers are full soon. */
    @BeforeAll
    static void start() throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64));
        configuration.set(TaskManagerOptions.MEMORY_SEGMENT_SIZE, MemorySize.parse("4kb"));
        configuration.set(WebOptions.CHECKPOINTS_HISTORY_SIZE, 1000);
        cluster =
                new MiniClusterWithClientResource(
                        new MiniClusterResourceConfiguration.Builder()
                                .setConfiguration(configuration)
                                .setNumberTaskManagers(1)
                                .setNumberSlotsPerTaskManager(2)
                                .build());
        cluster.before();
    }

    @AfterAll
    static void stop() {
        cluster.after();
    }

    @Test
    void goesOnFromACheckpointWithDataInFlight() throws Exception {
        List<String> expected = run("hashmap", false);
        assertThat(expected).hasSizeGreaterThan(500);

        List<String> outputs = run(BackendUnderTest.CONFIG_NAME, true);

        assertThat(outputs).containsExactlyInAnyOrderElementsOf(expected);
    }

    /**
     * @param isDisturbed whether the job is slow, checkpointed and fails
     */
    private List<String> run(String backend, boolean isDisturbed) throws Exception {
        PausingSource.reset(ELEMENTS);
        SlowJob.reset(isDisturbed);
        JobID job = submit(backend, isDisturbed);
        var result =
                cluster.getClusterClient()
                        .requestJobResult(job)
                        .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        assertThat(result.getJobStatus().orElse(null))
                .as("%s", result.getSerializedThrowable().map(Object::toString).orElse(""))
                .isEqualTo(JobStatus.FINISHED);
        if (isDisturbed) {
            assertIsRestoredFromOneWithData(job);
        }
        return List.copyOf(SlowJob.OUTPUTS);
    }

    private JobID submit(String backend, boolean isDisturbed) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, backend);
        configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, directory.toUri().toString());
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        configuration.set(CheckpointingOptions.ENABLE_UNALIGNED, true);
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        configuration.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        env.setParallelism(2);
        if (isDisturbed) {
            env.enableCheckpointing(50);
        }
        SlowJob.build(env, ELEMENTS);
        return cluster.getClusterClient()
                .submitJob(env.getStreamGraph().getJobGraph())
                .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private static void assertIsRestoredFromOneWithData(JobID job) throws Exception {
        CheckpointStatsSnapshot stats =
                cluster.getMiniCluster()
                        .getExecutionGraph(job)
                        .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS)
                        .getCheckpointStatsSnapshot();
        assertThat(stats.getCounts().getNumberOfRestoredCheckpoints()).isEqualTo(1);
        long restored = stats.getLatestRestoredCheckpoint().getCheckpointId();
        AbstractCheckpointStats checkpoint = stats.getHistory().getCheckpointById(restored);
        assertThat(checkpoint.isUnalignedCheckpoint()).isTrue();
        assertThat(checkpoint.getPersistedData()).as("bytes in flight").isPositive();
    }
}
