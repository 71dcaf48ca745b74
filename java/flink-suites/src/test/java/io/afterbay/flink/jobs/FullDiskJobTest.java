package io.afterbay.flink.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.afterbay.flink.contract.BackendUnderTest;
import io.afterbay.testing.Await;
import io.afterbay.testing.Prerequisite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.SinkFunction;
import org.apache.flink.test.util.MiniClusterWithClientResource;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job whose disk is really full: a file system of some megabytes, in memory. Where this process
 * may not mount one, there are only the injected faults of {@code StorageFaultTest}.
 */
class FullDiskJobTest {
    private static final long ELEMENTS = 9700;
    private static final long AT_CHECKPOINT = 2000;
    private static final int ENTRY_BYTES = 2000;

    /** What mount says to users, and to root in a container without the right. */
    private static final Pattern NO_RIGHT =
            Pattern.compile("permission denied|must be superuser|not permitted");

    private static final Queue<String> OUTPUTS = new ConcurrentLinkedQueue<>();
    private static MiniClusterWithClientResource cluster;

    @TempDir private Path directory;
    private Path small;

    @BeforeAll
    static void start() throws Exception {
        cluster =
                new MiniClusterWithClientResource(
                        new MiniClusterResourceConfiguration.Builder()
                                .setNumberTaskManagers(1)
                                .setNumberSlotsPerTaskManager(1)
                                .build());
        cluster.before();
    }

    @AfterAll
    static void stop() {
        cluster.after();
    }

    @BeforeEach
    void mount() throws Exception {
        OUTPUTS.clear();
        small = Files.createDirectory(directory.resolve("small"));
    }

    @AfterEach
    void unmount() throws Exception {
        cluster.cancelAllJobs();
        problem("umount", "--lazy", small.toString()); // that it is not mounted is none
    }

    private void mountSmall(String size) throws Exception {
        String problem =
                problem("mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", small.toString());
        assumeFalse(NO_RIGHT.matcher(problem).find(), problem); // nothing that could be installed
        Prerequisite.check(
                problem.isEmpty(),
                () -> "mount is needed (Debian: apt-get install mount): " + problem);
    }

    private void makeRoom() throws Exception {
        assertThat(problem("mount", "-o", "remount,size=200m", small.toString())).isEmpty();
    }

    /** Empty, or why it failed. */
    private static String problem(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) { // there is no such program
            return e.toString();
        }
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        int code = process.waitFor();
        return code == 0 ? "" : command[0] + " ended with " + code + ": " + said;
    }

    // ---------------------------------------------------------------- the job

    /** Keeps an entry for each element, of which no two are alike, and adds them up at the end. */
    private static final class Keep
            extends KeyedProcessFunction<Integer, Tuple2<Integer, Long>, String> {
        private static final long serialVersionUID = 1L;
        private transient MapState<Long, byte[]> entries;

        @Override
        public void open(OpenContext context) {
            entries =
                    getRuntimeContext()
                            .getMapState(
                                    new MapStateDescriptor<>(
                                            "entries",
                                            Types.LONG,
                                            PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
        }

        @Override
        public void processElement(
                Tuple2<Integer, Long> element, Context context, Collector<String> out)
                throws Exception {
            entries.put(element.f1, noise(element.f1));
            context.timerService().registerEventTimeTimer(Long.MAX_VALUE - 1);
        }

        @Override
        public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
                throws Exception {
            long sum = 0;
            for (byte[] entry : entries.values()) {
                sum += Arrays.hashCode(entry);
            }
            out.collect(context.getCurrentKey() + " " + sum);
        }
    }

    private static byte[] noise(long number) {
        byte[] bytes = new byte[ENTRY_BYTES];
        new Random(number).nextBytes(bytes);
        return bytes;
    }

    private static List<String> expected() {
        long[] sums = new long[97];
        for (long number = 0; number < ELEMENTS; number++) {
            sums[(int) (number * 31 % sums.length)] += Arrays.hashCode(noise(number));
        }
        List<String> lines = new ArrayList<>();
        for (int key = 0; key < sums.length; key++) {
            lines.add(key + " " + sums[key]);
        }
        return lines;
    }

    private JobGraph graph(Path local, Path checkpoints) {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, BackendUnderTest.CONFIG_NAME);
        configuration.setString("state.backend.afterbay.local-directories", local.toString());
        configuration.setString("state.backend.afterbay.memory.managed", "false");
        configuration.setString("state.backend.afterbay.memory.fixed-per-slot", "2 mb");
        configuration.set(
                CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints.toUri().toString());
        configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        configuration.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, 1000);
        configuration.set(
                CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        configuration.setString("restart-strategy.type", "none");
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        env.setParallelism(1);
        env.enableCheckpointing(TimeUnit.HOURS.toMillis(1)); // when the test wants
        env.addSource(new PausingSource(ELEMENTS), "source", Types.TUPLE(Types.INT, Types.LONG))
                .uid("source")
                .keyBy(element -> element.f0, Types.INT)
                .process(new Keep())
                .uid("keep")
                .addSink(
                        new SinkFunction<>() {
                            private static final long serialVersionUID = 1L;

                            @Override
                            public void invoke(String line, Context context) {
                                OUTPUTS.add(line);
                            }
                        });
        return env.getStreamGraph().getJobGraph();
    }

    private static JobID submitAndAwaitPause(JobGraph graph) throws Exception {
        PausingSource.reset(AT_CHECKPOINT);
        JobID job =
                cluster.getClusterClient()
                        .submitJob(graph)
                        .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        CommonTestUtils.waitForAllTaskRunning(cluster.getMiniCluster(), job, false);
        PausingSource.awaitPause();
        return job;
    }

    private static String checkpoint(JobID job) throws Exception {
        return cluster.getMiniCluster()
                .triggerCheckpoint(job)
                .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private static JobResult end(JobID job) throws Exception {
        return cluster.getClusterClient()
                .requestJobResult(job)
                .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private static void assertGoesOn(JobGraph graph, String checkpoint) throws Exception {
        OUTPUTS.clear();
        PausingSource.reset(ELEMENTS);
        graph.setSavepointRestoreSettings(
                SavepointRestoreSettings.forPath(checkpoint, false, RecoveryClaimMode.NO_CLAIM));
        JobResult result =
                end(
                        cluster.getClusterClient()
                                .submitJob(graph)
                                .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS));
        assertThat(result.getJobStatus().orElse(null))
                .as("%s", result.getSerializedThrowable().map(Object::toString).orElse(""))
                .isEqualTo(JobStatus.FINISHED);
        assertThat(OUTPUTS).containsExactlyInAnyOrderElementsOf(expected());
    }

    // ---------------------------------------------------------------- which disk is full

    @Test
    void ofTheStoreFailsTheJobAndItGoesOnWhenThereIsRoom() throws Exception {
        mountSmall("8m");
        Path checkpoints = directory.resolve("checkpoints");
        JobID job = submitAndAwaitPause(graph(small, checkpoints));
        String checkpoint = checkpoint(job);
        PausingSource.pauseAt = ELEMENTS;
        JobResult result = end(job);
        assertThat(result.getJobStatus().orElse(null)).isEqualTo(JobStatus.FAILED);
        assertThat(result.getSerializedThrowable().orElseThrow().getFullStringifiedStackTrace())
                .contains("No space left on device", small.toString(), "make room")
                .containsPattern("\\d+ of %d bytes are free on this disk".formatted(8 << 20));
        assertThat(OUTPUTS).isEmpty();
        makeRoom();
        assertGoesOn(graph(small, checkpoints), checkpoint);
    }

    /** No file of the store can be made: the task fails when it opens its state. */
    @Test
    void fullFromTheBeginningIsSaidInTheJobsException() throws Exception {
        mountSmall("8m,nr_inodes=1");
        PausingSource.reset(ELEMENTS);
        JobResult result =
                end(
                        cluster.getClusterClient()
                                .submitJob(graph(small, directory.resolve("checkpoints")))
                                .get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS));
        assertThat(result.getJobStatus().orElse(null)).isEqualTo(JobStatus.FAILED);
        assertThat(result.getSerializedThrowable().orElseThrow().getFullStringifiedStackTrace())
                .contains("No space left on device", small.toString(), "make room")
                .containsPattern("\\d+ of %d bytes are free on this disk".formatted(8 << 20));
    }

    @Test
    void ofCheckpointsFailsACheckpointOnly() throws Exception {
        mountSmall("1m");
        Path local = directory.resolve("local");
        JobID job = submitAndAwaitPause(graph(local, small));
        assertThatThrownBy(() -> checkpoint(job)).hasStackTraceContaining("heckpoint");
        assertThat(cluster.getClusterClient().getJobStatus(job).get()).isEqualTo(JobStatus.RUNNING);
        makeRoom();
        String checkpoint = checkpoint(job);
        cluster.getClusterClient().cancel(job).get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        end(job);
        assertGoesOn(graph(local, small), checkpoint);
    }
}
