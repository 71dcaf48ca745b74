package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.remote.ClusterAddress;
import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.remote.ClusterJob;
import io.afterbay.cli.remote.ClusterRest;
import io.afterbay.cli.remote.JobView;
import io.afterbay.cli.replay.ReplayVerb;
import io.afterbay.command.ExitCode;
import io.afterbay.testing.Await;
import io.afterbay.testing.LongForm;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A replay on a cluster where the live job runs, as users call it. */
class ReplayOnClusterTest {
    /** Numbers as they are seconds since 1970, to files: as many, and as fast, as it is told. */
    private static final String PROGRAM =
            """
            import org.apache.flink.api.common.eventtime.WatermarkStrategy;
            import org.apache.flink.api.common.serialization.SimpleStringEncoder;
            import org.apache.flink.api.common.typeinfo.Types;
            import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
            import org.apache.flink.connector.datagen.source.DataGeneratorSource;
            import org.apache.flink.connector.file.sink.FileSink;
            import org.apache.flink.core.fs.Path;
            import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
            import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

            public class Numbers {
                public static void main(String[] args) throws Exception {
                    build(StreamExecutionEnvironment.getExecutionEnvironment(), args).execute("numbers");
                }

                public static StreamExecutionEnvironment build(
                        StreamExecutionEnvironment environment, String[] args) {
                    environment.fromSource(
                                    new DataGeneratorSource<Long>(
                                            number -> number,
                                            Long.parseLong(args[1]),
                                            RateLimiterStrategy.perSecond(Double.parseDouble(args[2])),
                                            Types.LONG),
                                    WatermarkStrategy.<Long>forMonotonousTimestamps()
                                            .withTimestampAssigner((number, ms) -> number * 1000),
                                    args.length > 3 ? args[3] : "numbers")
                            .map(number -> "" + number)
                            .returns(Types.STRING)
                            .sinkTo(
                                    FileSink.forRowFormat(
                                                    new Path(args[0]),
                                                    new SimpleStringEncoder<String>())
                                            .withRollingPolicy(OnCheckpointRollingPolicy.build())
                                            .build());
                    return environment;
                }
            }
            """;

    private static final int NUMBERS = 20_000;

    /**
     * Records/s of which some are left whatever happens meanwhile: all take a quarter of an hour.
     */
    private static final String SLOW = "20";

    @TempDir private static Path built;
    private static Path jar;
    private static MiniCluster cluster;
    private static URI rest;

    @TempDir private Path directory;
    private Command command;

    @BeforeAll
    static void start() throws Exception {
        Path sources = Files.createDirectories(built.resolve("sources"));
        Files.writeString(sources.resolve("Numbers.java"), PROGRAM);
        jar = JobJar.build(sources, "Numbers", built);
        Configuration settings = new Configuration();
        settings.set(RestOptions.BIND_PORT, "0");
        settings.setString("metrics.latency.interval", "20 ms");
        settings.setString("metrics.fetcher.update-interval", "500 ms");
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(settings)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(4)
                                .withRandomPorts()
                                .build());
        cluster.start();
        rest = cluster.getRestAddress().get();
    }

    @AfterAll
    static void stop() throws Exception {
        cluster.close();
    }

    @BeforeEach
    void makeCommand() {
        command = new Command(directory);
    }

    /** A job that runs for as long as the test; its identifier. */
    private static JobClient live(String... args) throws Exception {
        URLClassLoader classes =
                new URLClassLoader(
                        new URL[] {jar.toUri().toURL()},
                        ReplayOnClusterTest.class.getClassLoader());
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createRemoteEnvironment(
                        rest.getHost(), rest.getPort(), 1, jar.toString());
        // Its sink commits by checkpoints: what was before a savepoint is there once.
        environment.enableCheckpointing(200);
        classes.loadClass("Numbers")
                .getMethod("build", StreamExecutionEnvironment.class, String[].class)
                .invoke(null, environment, args);
        return environment.executeAsync("live numbers");
    }

    private JobClient live() throws Exception {
        return live(directory.resolve("live").toString(), "1000000000", "1000");
    }

    private String[] replay(String id, String... more) {
        List<String> args =
                new ArrayList<>(
                        List.of(
                                "replay",
                                "jar",
                                jar.toString(),
                                "--from",
                                "@0",
                                "--to",
                                "@" + NUMBERS,
                                "--id",
                                id,
                                "--parallelism",
                                "1",
                                "--backend",
                                "hashmap",
                                "--checkpoint-interval",
                                "200ms",
                                "--json",
                                directory.resolve("report.json").toString(),
                                "--dir",
                                place()));
        args.addAll(List.of(more));
        if (!args.contains("--mode")) {
            args.add(args.indexOf("--parallelism"), "--own-output");
        }
        if (!args.contains("--")) {
            args.addAll(List.of("--", out(), "" + NUMBERS, "1000000"));
        }
        return args.toArray(String[]::new);
    }

    private static String address() {
        return rest.getHost() + ":" + rest.getPort();
    }

    private String place() {
        return directory.resolve("replays").toString();
    }

    private String out() {
        return directory.resolve("rows").toString();
    }

    /** Asked in this process, since it is asked often. */
    private JsonNode status() throws Exception {
        return new ObjectMapper().readTree(told("status", "--json").out()).path(0);
    }

    /** What becomes of it, when the cluster has answered. */
    private String state() throws Exception {
        AtomicReference<String> state = new AtomicReference<>("");
        Await.until(
                "an answer of the cluster",
                () -> {
                    state.set(status().path("state").asText());
                    return !state.get().equals("unknown");
                });
        return state.get();
    }

    /** From the cluster, which may take longer than whoever asks it waits. */
    private static <T> T answer(Callable<T> question) throws Exception {
        AtomicReference<T> answer = new AtomicReference<>();
        Await.until(
                "an answer of the cluster",
                () -> {
                    try {
                        answer.set(question.call());
                        return true;
                    } catch (ClusterException e) {
                        return false;
                    }
                });
        return answer.get();
    }

    /** When it returns, the job writes no file any more. */
    private static void cancel(JobClient job) throws Exception {
        job.cancel().get();
        Await.until(
                "it is cancelled",
                () -> cluster.getJobStatus(job.getJobID()).get() == JobStatus.CANCELED);
    }

    private boolean runs(Process replay) throws Exception {
        assertThat(replay.isAlive()).as(command.err()).isTrue();
        return true;
    }

    /** By this process: it starts no other one. */
    private ReplayVerb told(String... args) {
        ReplayVerb verb = ReplayVerb.run(Path.of(place()), args);
        assertThat(verb.code()).as(verb.err()).isZero();
        return verb;
    }

    private void assertAllRowsOnce() throws Exception {
        assertThat(rows()).isEqualTo(IntStream.range(0, NUMBERS).boxed().toList());
    }

    /** Of files that are committed, sorted. */
    private List<Integer> rows() throws Exception {
        List<Integer> numbers = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of(out()))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (!file.getFileName().toString().startsWith(".")) {
                    Files.readAllLines(file).forEach(line -> numbers.add(Integer.valueOf(line)));
                }
            }
        }
        numbers.sort(Comparator.naturalOrder());
        return numbers;
    }

    @Test
    @LongForm
    void theLiveJobDecidesOnItsRate() throws Exception {
        JobClient live = live();
        String id = live.getJobID().toHexString();
        Process replay =
                command.start(
                        replay("adaptive", "--rate", "adaptive", "--on", address(), "--live", id));
        Await.until(
                () -> "several rates: " + command.err(),
                () -> runs(replay) && status().path("timeline").size() > 2);
        JsonNode status = status();
        assertThat(status.path("adaptive").asBoolean()).isTrue();
        assertThat(status.path("budget").path("p99_ms").asDouble()).isPositive();
        assertThat(status.path("on").asText()).isEqualTo(address());
        JsonNode first = status.path("timeline").path(0);
        assertThat(first.path("reason").asText()).startsWith("the first: the live job's budget is");
        JsonNode second = status.path("timeline").path(1);
        assertThat(second.path("live_p99_ms").isNumber()).isTrue();
        assertThat(second.path("rate").asDouble()).isNotEqualTo(first.path("rate").asDouble());
        told("rate", "adaptive", "max");
        Await.until(() -> "its end: " + command.err(), () -> !replay.isAlive());
        assertThat(replay.exitValue()).as(command.err()).isZero();
        assertAllRowsOnce();
        JsonNode report =
                new ObjectMapper()
                        .readTree(Files.readString(directory.resolve("report.json")))
                        .path("replay");
        assertThat(report.path("state").asText()).isEqualTo("finished");
        assertThat(report.path("timeline").findValuesAsText("reason")).contains("asked for");
        cancel(live);
    }

    /** The job goes on at the cluster; whoever asks finds it, and follows it. */
    @Test
    void itGoesOnWithoutTheCommandThatSentItAndFromACheckpointWithoutItsJob() throws Exception {
        Process replay = command.start(replay("alone", "--rate", SLOW, "--on", address()));
        Await.until(
                () -> "records: " + command.err(),
                () -> runs(replay) && status().path("records").asLong() > 10);
        Kill.tree(replay);
        long then = status().path("records").asLong();
        Await.until("more records", () -> status().path("records").asLong() > then);
        assertThat(state()).isEqualTo("running");

        String job = status().path("job_id").asText();
        Await.until(
                "a checkpoint",
                () -> {
                    try (Stream<Path> files =
                            Files.walk(directory.resolve("replays/alone/checkpoints"))) {
                        return files.anyMatch(file -> file.endsWith("_metadata"));
                    } catch (UncheckedIOException e) {
                        return false; // one that is deleted meanwhile
                    }
                });
        cluster.cancelJob(JobID.fromHexString(job)).get();
        Await.until("its job to end", () -> state().equals("interrupted"));

        Process again = command.start("replay", "resume", "alone", "--dir", place());
        ClusterRest asked = new ClusterRest(new ClusterAddress(rest.getHost(), rest.getPort()));
        Await.until(
                () -> "another job: " + command.err(),
                () -> {
                    String another = status().path("job_id").asText();
                    return runs(again)
                            && !another.equals(job)
                            && answer(new ClusterJob(asked, another)::state).isPresent();
                });
        Kill.tree(again);
        told("rate", "alone", "max");
        Process follower = command.start("replay", "resume", "alone", "--dir", place());
        Await.until(() -> "its end: " + command.err(), () -> !follower.isAlive());
        if (follower.exitValue() != 0) {
            // It had finished before anybody followed it.
            assertThat(command.err()).contains("is finished");
        }
        assertThat(state()).isEqualTo("finished");
        assertAllRowsOnce();
        assertThat(directory.resolve("replays/alone/checkpoints")).doesNotExist();
    }

    /** Killed when the job that it has sent is on its way. */
    private void beginAndDie(SlowWay way, String id) throws Exception {
        Process replay = command.start(replay(id, "--on", way.address()));
        Await.until(
                () -> "its job on its way: " + command.err(),
                () -> runs(replay) && way.sent() == 1);
        Kill.tree(replay);
    }

    /** Nobody could ask the cluster for it when it was cancelled. */
    @Test
    void aJobThatComesAfterItsReplayWasCancelledFailsAtOnce() throws Exception {
        try (SlowWay way = new SlowWay(rest)) {
            beginAndDie(way, "late");
            String id = status().path("job_id").asText();
            told("cancel", "late");
            assertThat(state()).isEqualTo("cancelled");

            way.letGoOn();
            Await.until("its job to arrive", way::hasArrived);
            JobView job =
                    new JobView(
                            new ClusterRest(new ClusterAddress(rest.getHost(), rest.getPort())),
                            id);
            Await.until(
                    () -> "its end: " + answer(job::status),
                    () -> JobStatus.valueOf(answer(job::status)).isGloballyTerminalState());
            assertThat(answer(job::status)).isEqualTo("FAILED");
            assertThat(answer(job::failures))
                    .anyMatch(failure -> failure.contains("was cancelled before this job of it"));
            assertThat(state()).isEqualTo("cancelled");
            assertThat(status().path("records").asLong()).isZero();
            if (Files.exists(Path.of(out()))) {
                assertThat(rows()).isEmpty();
            }
        }
    }

    /** They have one identifier, which a cluster takes once. */
    @Test
    void aJobThatComesLateAndThatOfAResumeAreOne() throws Exception {
        try (SlowWay way = new SlowWay(rest)) {
            beginAndDie(way, "twice");
            String id = status().path("job_id").asText();
            Process again = command.start("replay", "resume", "twice", "--dir", place());
            Await.until(
                    () -> "another one on its way: " + command.err(),
                    () -> runs(again) && way.sent() == 2);
            way.letGoOn();
            Await.until(() -> "its end: " + command.err(), () -> !again.isAlive());
            if (again.exitValue() != 0) {
                // The other one came first: this follows it, or finds that it has finished.
                command.run("replay", "resume", "twice", "--dir", place());
            }
            assertThat(state()).as(command.err()).isEqualTo("finished");
            assertThat(status().path("job_id").asText()).isEqualTo(id);
            assertAllRowsOnce();
        }
    }

    private Process blocking(String id, JobClient live) throws Exception {
        ClusterRest asked = new ClusterRest(new ClusterAddress(rest.getHost(), rest.getPort()));
        JobView view = new JobView(asked, live.getJobID().toHexString());
        Await.until("rows of the live job", () -> answer(view::sourceRecords) > 100);
        Process replay =
                command.start(
                        replay(
                                id,
                                "--mode",
                                "blocking",
                                "--rate",
                                SLOW,
                                "--on",
                                address(),
                                "--live",
                                live.getJobID().toHexString(),
                                "--",
                                out(),
                                "" + 2 * NUMBERS,
                                "1000000"));
        Await.until(
                () -> "records: " + command.err(),
                () -> runs(replay) && status().path("records").asLong() > 10);
        assertThat(cluster.getJobStatus(live.getJobID()).get()).isEqualTo(JobStatus.FINISHED);
        return replay;
    }

    private JobID assertLiveIsBack(JobClient live) throws Exception {
        JsonNode blocking = status().path("blocking");
        assertThat(blocking.path("phase").asText()).isEqualTo("back");
        assertThat(blocking.path("savepoint").asText()).contains("/savepoints/");
        JobID back = JobID.fromHexString(blocking.path("live_job_id").asText());
        assertThat(back).isNotEqualTo(live.getJobID());
        Await.until(
                "the live job to do the rest",
                () -> cluster.getJobStatus(back).get() == JobStatus.FINISHED);
        return back;
    }

    /** The live job writes each number once, before and after; the replay those of its range. */
    @Test
    void theLiveJobIsStoppedForABlockingReplayAndGoesOnWhereItWasAlsoAfterAKill() throws Exception {
        JobClient live = live(out(), "" + 2 * NUMBERS, "50");
        Process replay = blocking("blocking", live);
        Kill.tree(replay);
        told("rate", "blocking", "max");
        assertThat(command.run("replay", "resume", "blocking", "--dir", place()))
                .as(command.err())
                .isZero();
        assertThat(state()).isEqualTo("finished");
        assertLiveIsBack(live);
        assertThat(rows())
                .isEqualTo(
                        IntStream.concat(
                                        IntStream.range(0, NUMBERS),
                                        IntStream.range(0, 2 * NUMBERS))
                                .sorted()
                                .boxed()
                                .toList());
    }

    @Test
    @LongForm
    void whoCancelsABlockingReplayHasTheLiveJobBack() throws Exception {
        JobClient live = live(out(), "" + 2 * NUMBERS, "50");
        Process replay = blocking("cancelled", live);
        told("cancel", "cancelled");
        Await.until("the end of the command", () -> !replay.isAlive());
        assertThat(state()).isEqualTo("cancelled");
        assertLiveIsBack(live);
        assertThat(Set.copyOf(rows())).hasSize(2 * NUMBERS);
    }

    @Test
    void aLiveJobThatIsNoneOrAnotherOneIsRefused() throws Exception {
        String none = "0123456789abcdef0123456789abcdef";
        JobClient live = live();
        JobClient another =
                live(directory.resolve("other").toString(), "1000000000", "1000", "letters");
        String id = live.getJobID().toHexString();
        StringWriter err = new StringWriter();
        CommandLine line = Afterbay.commandLine().setErr(new PrintWriter(err, true));
        assertThat(line.execute(replay("none", "--on", address(), "--live", none)))
                .isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString()).contains("has no job " + none).contains(id + " (live numbers)");
        assertThat(
                        command.run(
                                replay(
                                        "other",
                                        "--live",
                                        address() + "/" + another.getJobID().toHexString())))
                .isEqualTo(ExitCode.FAILURE);
        assertThat(command.err())
                .contains("is of another graph")
                .contains("no operator 'Source: numbers'")
                .contains("name one that is: " + id);
        assertThat(directory.resolve("replays")).isEmptyDirectory();
        cancel(another);
        cancel(live);
    }
}
