package io.afterbay.workloads.trafficjam;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.testing.TestForm;
import io.afterbay.workloads.run.Backends;
import io.afterbay.workloads.run.HeldEnvironment;
import io.afterbay.workloads.run.RunningJob;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Output, rejects and counts are exact after lost task managers and across savepoints. */
class TrafficJamRecoveryTest {
    private static final Path TRACE = Path.of("../../examples/traffic-jam/city-traffic.csv.gz");
    private static final String AFTERBAY = "io.afterbay.flink.AfterbayStateBackendFactory";
    private static final int ROWS = 60_000;
    private static final int REPEAT = 2;

    /** Slow enough that failures meet a stream, fast enough for a test: 8 s. */
    private static final double LINES_PER_SECOND = 15_000;

    /** Of each start, which then waits for the test: less than the input, even of three of them. */
    private static final long LINES_BEFORE_RELEASE = 35_000;

    @TempDir private Path directory;
    private MiniCluster cluster;
    private Path input;
    private Path output;
    private Path rejects;
    private List<String> expectedRejects;
    private TrafficJamReference reference;

    @BeforeEach
    void start() throws Exception {
        input = directory.resolve("input.csv");
        output = directory.resolve("output.csv");
        rejects = directory.resolve("rejects.csv");
        writeInput();
        reference = TrafficJamReference.read(new TraceFile(input.toString()));
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(settings("hashmap"))
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(3)
                                .withRandomPorts()
                                .build());
        cluster.start();
    }

    /** The beginning of the city trace with late and malformed lines between its own. */
    private void writeInput() throws IOException {
        List<String> lines = new ArrayList<>(List.of(ReportParser.HEADER));
        expectedRejects = new ArrayList<>(List.of(Rejects.HEADER));
        for (TraceLine line : firstRows()) {
            lines.add(line.text());
            if (line.number() % 100 == 0 && line.report().timeS() > 5) {
                String late = (line.report().timeS() - 6) + ",late,s,0,0,1.0";
                lines.add(late);
                expectedRejects.add(lines.size() + ",late," + late);
                lines.add("bad");
                expectedRejects.add(lines.size() + ",not 6 columns,bad");
            }
        }
        Files.write(input, lines);
        assertThat(expectedRejects).hasSizeGreaterThan(1000);
    }

    private static List<TraceLine> firstRows() throws IOException {
        List<TraceLine> rows = new ArrayList<>();
        try (TraceLines trace = new TraceLines(new TraceFile(TRACE.toString()), 1)) {
            trace.seek(0, 0, 0);
            while (rows.size() < ROWS) {
                rows.add(trace.next());
            }
        }
        return rows;
    }

    @AfterEach
    void stop() throws Exception {
        cluster.close();
    }

    static List<String> oursOrAll() {
        return TestForm.IS_LONG ? List.of("hashmap", "rocksdb", AFTERBAY) : List.of(AFTERBAY);
    }

    @ParameterizedTest
    @MethodSource("oursOrAll")
    void everythingIsExactAfterLosingTheTaskManagerTwice(String backend) throws Exception {
        String run = "recovery-" + backend;
        HeldEnvironment env = new HeldEnvironment(settings(backend), LINES_BEFORE_RELEASE);
        JobID job = submit(env, options(run), 2);
        RunningJob running = new RunningJob(cluster, job);
        for (int lost = 1; lost <= 2; lost++) {
            long from = TrafficJamStatistics.of(run).accepted();
            Await.until(
                    "it is at work", () -> TrafficJamStatistics.of(run).accepted() > from + 15_000);
            running.awaitCheckpoint(); // else the next start would not come so far
            cluster.terminateTaskManager(lost - 1).get();
            cluster.startTaskManager();
            long restores = lost;
            Await.until(
                    "it is restored",
                    () -> running.checkpoints().getNumberOfRestoredCheckpoints() >= restores);
        }
        env.release();
        finish(job);
        assertThat(attempts(job)).as("restarts").isGreaterThanOrEqualTo(2);
        assertExact();
        assertThat(TrafficJamStatistics.of(run).late()).isEqualTo(reference.late());
        assertThat(TrafficJamStatistics.of(run).malformed()).isEqualTo(reference.malformed());
        assertThat(TrafficJamStatistics.of(run).accepted())
                .isEqualTo(reference.accepted() * REPEAT);
    }

    @Test
    void aSavepointMovesTheJobToAnotherBackendAndParallelism() throws Exception {
        HeldEnvironment env = new HeldEnvironment(settings("rocksdb"), LINES_BEFORE_RELEASE);
        JobID first = submit(env, options("before"), 1);
        new RunningJob(cluster, first).awaitAllTasks();
        Await.until("it is at work", () -> TrafficJamStatistics.of("before").accepted() > 30_000);
        String savepoint =
                cluster.stopWithSavepoint(
                                first,
                                directory.resolve("savepoints").toUri().toString(),
                                false,
                                SavepointFormatType.CANONICAL)
                        .get();
        Configuration settings = settings("hashmap");
        settings.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
        StreamExecutionEnvironment other =
                StreamExecutionEnvironment.getExecutionEnvironment(settings);
        finish(submit(other, options("after"), 3));
        assertExact();
    }

    private void assertExact() throws IOException {
        List<String> expected = new ArrayList<>(List.of(RankingRow.HEADER));
        expected.addAll(reference.lines(REPEAT));
        assertThat(Files.readAllLines(output)).isEqualTo(expected);
        assertThat(Files.readAllLines(rejects)).isEqualTo(expectedRejects);
    }

    private TrafficJamOptions options(String run) {
        return new TrafficJamOptions(
                input.toString(),
                output.toString(),
                rejects.toString(),
                10,
                1,
                0,
                REPEAT,
                Long.MAX_VALUE,
                LINES_PER_SECOND,
                run);
    }

    private Configuration settings(String backend) {
        return Backends.settings(backend, directory, Duration.ofMillis(200));
    }

    private JobID submit(StreamExecutionEnvironment env, TrafficJamOptions options, int parallelism)
            throws Exception {
        env.setParallelism(parallelism);
        TrafficJam.build(env, options);
        JobGraph graph = env.getStreamGraph().getJobGraph();
        return cluster.submitJob(graph).get().getJobID();
    }

    private void finish(JobID job) throws Exception {
        assertThat(cluster.requestJobResult(job).get().getSerializedThrowable()).isEmpty();
    }

    private int attempts(JobID job) throws Exception {
        return cluster.getArchivedExecutionGraph(job)
                .get()
                .getAllExecutionVertices()
                .iterator()
                .next()
                .getCurrentExecutionAttempt()
                .getAttemptNumber();
    }
}
