package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.engine.EmbeddedEngine;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.job.JarProgram;
import io.afterbay.cli.job.ProgramArguments;
import io.afterbay.testing.LongForm;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code run FILE.jar} with the example, and with programs that end in all kinds of ways. */
class JarRunTest {
    private static final Path EXAMPLE = Path.of("../../examples/flink-job/src/main/java");

    /** What it does is its first argument. */
    private static final String PROGRAM =
            """
            import java.util.concurrent.CountDownLatch;
            import org.apache.flink.configuration.Configuration;
            import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
            import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

            public class Program {
                public static void main(String[] args) throws Exception {
                    Configuration own = new Configuration();
                    if (args[0].equals("own-backend")) {
                        own.setString("state.backend.type", "hashmap");
                    }
                    StreamExecutionEnvironment env =
                            StreamExecutionEnvironment.getExecutionEnvironment(own);
                    long last = args[0].equals("endless") ? Long.MAX_VALUE : 1000;
                    boolean fails = args[0].equals("task-fails");
                    var numbers = env.fromSequence(1, last).map(n -> 7 / (fails ? n - n : n));
                    if (args[0].equals("wide")) {
                        numbers.setParallelism(64);
                    }
                    numbers.sinkTo(new DiscardingSink<>());
                    switch (args[0]) {
                        case "nothing" -> {}
                        case "throws" -> throw new IllegalStateException("no such luck");
                        case "two" -> {
                            env.executeAsync("first");
                            env.fromSequence(1, 10).sinkTo(new DiscardingSink<>());
                            env.executeAsync("second");
                        }
                        case "exits" -> {
                            env.execute("before the exit");
                            System.exit(3);
                        }
                        default -> env.execute("numbers");
                    }
                }
            }
            """;

    @TempDir private static Path built;
    private static Path jar;
    private static Path undeclared;
    @TempDir private static Path engineFiles;
    private static EmbeddedEngine engine;
    @TempDir private Path directory;
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void buildPrograms() throws Exception {
        Path sources = Files.createDirectories(built.resolve("sources"));
        Files.writeString(sources.resolve("Program.java"), PROGRAM);
        jar = JobJar.build(sources, "Program", built);
        undeclared = JobJar.again(built, "", "undeclared.jar");
    }

    /** One for all programs of this process, each of which ends before the next one starts. */
    @BeforeAll
    static void startEngine() throws Exception {
        EngineSettings settings =
                new EngineArguments().options().settings(Afterbay.commandLine(), Backend.AFTERBAY);
        engine = new EmbeddedEngine(settings, engineFiles, true);
        engine.start();
    }

    @AfterAll
    static void stopEngine() throws Exception {
        engine.close();
    }

    @Test
    void theExampleRunsOnTheChosenBackend() throws Exception {
        Path example = JobJar.build(EXAMPLE, "com.example.sessions.SessionsJob", directory);
        Command command = new Command(directory);
        int code =
                command.run(
                        "run",
                        example.toString(),
                        "--memory",
                        "1g",
                        "--json",
                        command.json(),
                        "--",
                        "--events",
                        "20000",
                        "--gap-ms",
                        "500",
                        "--print");
        assertThat(code).as(command.err()).isZero();
        assertThat(command.out()).contains("visit 2: ").contains("20,000 events in");
        JsonNode summary = command.summary();
        assertThat(summary.get("job").asText()).isEqualTo("job.jar");
        assertThat(summary.get("events").asLong()).isEqualTo(20_000);
        assertThat(summary.get("latency_source").asText()).isEqualTo("markers");
        assertThat(summary.get("jobs").get(0).asText()).isEqualTo("sessions");
        assertThat(summary.get("warnings")).isEmpty();
        assertThat(summary.get("options").get("arguments").get(0).asText()).isEqualTo("--events");
    }

    @Test
    @LongForm
    void aDurationEndsAnEndlessJob() throws Exception {
        Command command = new Command(directory);
        int code =
                command.run(
                        "run",
                        jar.toString(),
                        "--memory",
                        "1g",
                        "--json",
                        command.json(),
                        "--duration",
                        "2s",
                        "--checkpoint-interval",
                        "500ms",
                        "--",
                        "endless");
        assertThat(code).as(command.err()).isZero();
        assertThat(command.err()).contains("the --duration is over");
        JsonNode summary = command.summary();
        assertThat(summary.get("outcome").asText()).isEqualTo("finished");
    }

    @Test
    @LongForm
    void anExitIsReportedWithItsStatus() throws Exception {
        Command command = new Command(directory);
        int code =
                command.run(
                        "run",
                        jar.toString(),
                        "--memory",
                        "1g",
                        "--json",
                        command.json(),
                        "--",
                        "exits");
        assertThat(code).isEqualTo(1);
        assertThat(command.err()).contains("the program called System.exit(3)");
        assertThat(command.summary().get("events").asLong()).isEqualTo(1000);
    }

    @Test
    void severalJobsCountTogether() throws Exception {
        JarProgram program = program("two");
        run(program);
        assertThat(program.statistics().accepted()).isEqualTo(1010);
    }

    @Test
    void endingsThatAreFailuresSayWhatHappened() throws Exception {
        assertThat(failure("nothing")).contains("main of Program ended without a job", "execute()");
        assertThat(failure("throws"))
                .contains("main of Program failed: IllegalStateException: no such luck")
                .contains("Program.java:");
        assertThat(failure("task-fails"))
                .contains("job 'numbers' failed: ArithmeticException: / by zero")
                .contains("Program.java:");
        assertThat(failure("wide")).contains("needs 64 slots", "--parallelism 64");
    }

    @Test
    void aJobThatChoosesItsBackendItselfIsToldApart() throws Exception {
        JarProgram program = program("own-backend");
        run(program);
        assertThat(program.news())
                .anyMatch(news -> news.contains("does not run on afterbay"))
                .anyMatch(news -> news.contains("'hashmap'"));
    }

    private String failure(String argument) throws Exception {
        try {
            run(program(argument));
        } catch (ExecutionException e) {
            return e.getCause().getMessage();
        }
        throw new AssertionError(argument + " did not fail");
    }

    private static JarProgram program(String argument) {
        return new JarProgram(jar, "Program", List.of(argument), new ProgramArguments().rules());
    }

    private static void run(JarProgram program) throws Exception {
        program.start(engine).get();
    }

    @Test
    void whatIsNoJobIsRefusedBeforeItStarts() throws Exception {
        Path text = Files.writeString(directory.resolve("text.jar"), "no jar");
        assertThat(execute("none.jar")).isEqualTo(1);
        assertThat(err.toString()).contains("none.jar: no such file");
        assertThat(execute(text.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("is no jar");
        assertThat(execute(undeclared.toString())).isEqualTo(2);
        assertThat(err.toString()).contains("declares no Main-Class; name one with --class");
        assertThat(execute(jar.toString(), "--class", "Progam")).isEqualTo(2);
        assertThat(err.toString()).contains("--class Progam").contains("no such class");
        assertThat(execute(jar.toString(), "--duration", "soon")).isEqualTo(2);
        assertThat(err.toString()).contains("--duration");
    }

    private int execute(String... args) {
        err.getBuffer().setLength(0);
        String[] all = Arrays.copyOf(new String[] {"run"}, args.length + 1);
        System.arraycopy(args, 0, all, 1, args.length);
        CommandLine command = Afterbay.commandLine();
        command.setErr(new PrintWriter(err, true));
        return command.execute(Targets.named(all));
    }
}
