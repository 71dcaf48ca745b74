package io.afterbay.flink.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.contract.BackendUnderTest;
import io.afterbay.flink.contract.Instrumentation;
import io.afterbay.testing.Await;
import io.afterbay.testing.LongForm;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.client.program.ClusterClient;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.util.MiniClusterWithClientResource;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A job is stopped twice, and goes on with another parallelism and perhaps another backend; its
 * outputs together are those of an undisturbed run on HashMap.
 */
class SavepointJobsTest {
    private static final long ELEMENTS = 6000;
    private static final int MAX_PARALLELISM = 128;

    private static MiniClusterWithClientResource cluster;
    private static List<String> expected;

    @TempDir private Path directory;

    @BeforeAll
    static void start() throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(128));
        cluster =
                new MiniClusterWithClientResource(
                        new MiniClusterResourceConfiguration.Builder()
                                .setConfiguration(configuration)
                                .setNumberTaskManagers(1)
                                .setNumberSlotsPerTaskManager(4)
                                .build());
        cluster.before();
        expected = undisturbedRun();
    }

    @AfterAll
    static void stop() {
        cluster.after();
    }

    @BeforeEach
    void clear() {
        Pipeline.OUTPUTS.clear();
    }

    /** What a failed test has left would keep its slots from the next one. */
    @AfterEach
    void cancelJobs() {
        cluster.cancelAllJobs();
    }

    private static List<String> undisturbedRun() throws Exception {
        PausingSource.reset(ELEMENTS);
        Pipeline.OUTPUTS.clear();
        JobID job = submit(graph("hashmap", 2, Path.of("")));
        finish(job);
        return new ArrayList<>(Pipeline.OUTPUTS);
    }

    @ParameterizedTest
    @CsvSource({"CANONICAL, CLAIM", "NATIVE, NO_CLAIM"})
    @LongForm
    void rescalesFromSavepointsOfTheOtherClaim(SavepointFormatType format, RecoveryClaimMode claim)
            throws Exception {
        rescalesFromSavepoints(format, claim);
    }

    @ParameterizedTest
    @CsvSource({"CANONICAL, NO_CLAIM", "NATIVE, CLAIM"})
    void rescalesFromSavepoints(SavepointFormatType format, RecoveryClaimMode claim)
            throws Exception {
        int before = Instrumentation.created();
        String ours = BackendUnderTest.CONFIG_NAME;
        String first = runAndStop(graph(ours, 2, directory), ELEMENTS / 3, format);
        String second =
                runAndStop(
                        restoring(graph(ours, 4, directory), first, claim),
                        2 * ELEMENTS / 3,
                        format);
        PausingSource.reset(ELEMENTS);
        finish(submit(restoring(graph(ours, 1, directory), second, claim)));
        assertThat(Pipeline.OUTPUTS).containsExactlyInAnyOrderElementsOf(expected);
        // Four keyed operators with 2, 4 and 1 subtasks.
        assertThat(Instrumentation.created() - before).isEqualTo(4 * (2 + 4 + 1));
    }

    /** How checkpoints are written. */
    enum Checkpoints {
        FULL,
        INCREMENTAL,
        INCREMENTAL_MERGED;

        private void configure(Configuration configuration) {
            configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, this != FULL);
            configuration.set(
                    CheckpointingOptions.FILE_MERGING_ENABLED, this == INCREMENTAL_MERGED);
            configuration.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.ZERO);
        }
    }

    /**
     * What a checkpoint is restored with after the job is gone, as opposed to a savepoint; twice,
     * the second time with another parallelism. Without a claim, the files of the first job are
     * deleted once the second has a checkpoint of its own.
     */
    @ParameterizedTest
    @CsvSource({"NO_CLAIM, FULL", "CLAIM, INCREMENTAL", "NO_CLAIM, INCREMENTAL_MERGED"})
    void goesOnFromARetainedCheckpoint(RecoveryClaimMode claim, Checkpoints kind) throws Exception {
        Path firstFiles = directory.resolve("first");
        Path laterFiles = directory.resolve("later");
        String first = runAndCancel(checkpointing(2, firstFiles, kind), ELEMENTS / 3);
        String second =
                runAndCancel(
                        restoring(checkpointing(2, laterFiles, kind), first, claim),
                        2 * ELEMENTS / 3);
        if (claim == RecoveryClaimMode.NO_CLAIM) {
            FileUtils.deleteDirectory(firstFiles.toFile());
        }
        PausingSource.reset(ELEMENTS);
        finish(submit(restoring(checkpointing(3, laterFiles, kind), second, claim)));
        assertThat(Pipeline.OUTPUTS).containsExactlyInAnyOrderElementsOf(expected);
    }

    @ParameterizedTest
    @CsvSource({"CLAIM, FULL", "NO_CLAIM, INCREMENTAL", "CLAIM, INCREMENTAL_MERGED"})
    @LongForm
    void goesOnFromARetainedCheckpointOfTheOtherClaim(RecoveryClaimMode claim, Checkpoints kind)
            throws Exception {
        goesOnFromARetainedCheckpoint(claim, kind);
    }

    private JobGraph checkpointing(int parallelism, Path files, Checkpoints kind) {
        return graph(BackendUnderTest.CONFIG_NAME, parallelism, files, kind::configure);
    }

    private static String runAndCancel(JobGraph graph, long pauseAt) throws Exception {
        PausingSource.reset(pauseAt);
        JobID job = submitAndAwaitPause(graph);
        String checkpoint =
                cluster.getMiniCluster()
                        .triggerCheckpoint(job)
                        .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        cluster.getClusterClient().cancel(job).get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        await(job, JobStatus.CANCELED);
        return newestBeside(checkpoint);
    }

    /** A periodic one may have come after it, and taken its place. */
    private static String newestBeside(String checkpoint) throws IOException {
        try (Stream<Path> all = Files.list(Path.of(URI.create(checkpoint)).getParent())) {
            return all.filter(path -> Files.exists(path.resolve("_metadata")))
                    .max(Comparator.comparingInt(SavepointJobsTest::number))
                    .orElseThrow()
                    .toUri()
                    .toString();
        }
    }

    private static int number(Path checkpoint) {
        return Integer.parseInt(checkpoint.getFileName().toString().replace("chk-", ""));
    }

    /** Adopting and leaving: RocksDB or HashMap, then ours, then RocksDB or HashMap. */
    @ParameterizedTest
    @CsvSource({"rocksdb, hashmap", "hashmap, rocksdb"})
    void comesAndGoes(String from, String to) throws Exception {
        SavepointFormatType format = SavepointFormatType.CANONICAL;
        String first = runAndStop(graph(from, 2, directory), ELEMENTS / 3, format);
        String second =
                runAndStop(
                        restoring(
                                graph(BackendUnderTest.CONFIG_NAME, 3, directory),
                                first,
                                RecoveryClaimMode.NO_CLAIM),
                        2 * ELEMENTS / 3,
                        format);
        PausingSource.reset(ELEMENTS);
        finish(submit(restoring(graph(to, 2, directory), second, RecoveryClaimMode.NO_CLAIM)));
        assertThat(Pipeline.OUTPUTS).containsExactlyInAnyOrderElementsOf(expected);
    }

    private String runAndStop(JobGraph graph, long pauseAt, SavepointFormatType format)
            throws Exception {
        PausingSource.reset(pauseAt);
        JobID job = submitAndAwaitPause(graph);
        String path =
                cluster.getClusterClient()
                        .stopWithSavepoint(job, false, directory.toUri().toString(), format)
                        .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        await(job, JobStatus.FINISHED);
        return path;
    }

    private static JobGraph graph(String backend, int parallelism, Path checkpoints) {
        return graph(backend, parallelism, checkpoints, configuration -> {});
    }

    private static JobGraph graph(
            String backend, int parallelism, Path checkpoints, Consumer<Configuration> configure) {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, backend);
        configuration.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints.toUri().toString());
        configuration.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        configure.accept(configuration);
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        env.setParallelism(parallelism);
        env.setMaxParallelism(MAX_PARALLELISM);
        env.enableCheckpointing(200);
        Pipeline.build(env, ELEMENTS);
        return env.getStreamGraph().getJobGraph();
    }

    private static JobGraph restoring(JobGraph graph, String path, RecoveryClaimMode claim) {
        graph.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(path, false, claim));
        return graph;
    }

    private static JobID submit(JobGraph graph) throws Exception {
        return cluster.getClusterClient()
                .submitJob(graph)
                .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    /** A checkpoint is refused until all subtasks run. */
    private static JobID submitAndAwaitPause(JobGraph graph) throws Exception {
        JobID job = submit(graph);
        CommonTestUtils.waitForAllTaskRunning(cluster.getMiniCluster(), job, false);
        PausingSource.awaitPause();
        return job;
    }

    private static void finish(JobID job) throws Exception {
        await(job, JobStatus.FINISHED);
    }

    private static void await(JobID job, JobStatus status) throws Exception {
        ClusterClient<?> client = cluster.getClusterClient();
        var result = client.requestJobResult(job).get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        assertThat(result.getJobStatus().orElse(null))
                .as("%s", result.getSerializedThrowable().map(Object::toString).orElse(""))
                .isEqualTo(status);
    }
}
