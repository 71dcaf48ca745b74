package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.replay.ReplayVerb;
import io.afterbay.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A replay of somebody else's job, whose sink commits by checkpoints. */
class ReplayJarTest {
    /** Numbers as they are seconds since 1970, to files; says where its checkpoints go itself. */
    private static final String PROGRAM =
            """
            import org.apache.flink.api.common.eventtime.WatermarkStrategy;
            import org.apache.flink.api.common.serialization.SimpleStringEncoder;
            import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
            import org.apache.flink.configuration.CheckpointingOptions;
            import org.apache.flink.configuration.Configuration;
            import org.apache.flink.connector.file.sink.FileSink;
            import org.apache.flink.core.fs.Path;
            import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

            public class Numbers {
                public static void main(String[] args) throws Exception {
                    Configuration settings = new Configuration();
                    settings.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, args[1]);
                    StreamExecutionEnvironment environment =
                            StreamExecutionEnvironment.getExecutionEnvironment(settings);
                    run(environment, args[0]);
                    if (args.length > 2) {
                        run(environment, args[2]);
                    }
                }

                private static void run(StreamExecutionEnvironment environment, String output)
                        throws Exception {
                    environment.fromSource(
                                    new NumberSequenceSource(0, 99_999),
                                    WatermarkStrategy.<Long>forMonotonousTimestamps()
                                            .withTimestampAssigner((number, ms) -> number * 1000),
                                    "numbers")
                            .map(number -> "" + number)
                            .sinkTo(
                                    FileSink.forRowFormat(
                                                    new Path(output),
                                                    new SimpleStringEncoder<String>())
                                            .build());
                    environment.execute("numbers");
                }
            }
            """;

    @TempDir private static Path built;
    private static Path builtJar;

    @TempDir private Path directory;
    private Path jar;
    private Command command;

    @BeforeAll
    static void buildProgram() throws Exception {
        Path sources = Files.createDirectories(built.resolve("sources"));
        Files.writeString(sources.resolve("Numbers.java"), PROGRAM);
        builtJar = JobJar.build(sources, "Numbers", built);
    }

    @BeforeEach
    void makeCommand() throws IOException {
        jar = Files.copy(builtJar, directory.resolve("numbers.jar"));
        command = new Command(directory);
    }

    @Test
    void whatItsSinkWritesIsCommittedAndItsCheckpointsAreItsOwn() throws Exception {
        assertThat(replay("--own-output", "--", out(1), live())).as(command.err()).isZero();
        assertThat(numbers(out(1)))
                .containsExactlyInAnyOrderElementsOf(IntStream.range(500, 700).boxed().toList());
        assertThat(directory.resolve("live")).doesNotExist();
        assertThat(directory.resolve("replays/numbers/checkpoints")).doesNotExist();
        assertThat(state()).isEqualTo("finished");
    }

    @Test
    void aSinkThatMayBeTheLiveJobsIsRefusedAndNothingIsLeft() throws Exception {
        assertThat(replay("--", out(1), live())).isEqualTo(ExitCode.FAILURE);
        assertThat(command.err())
                .contains("may write to the outside", "--own-output", "--mode beside")
                .doesNotContain("resume");
        assertThat(directory.resolve("replays")).isEmptyDirectory();
        assertThat(Path.of(out(1))).doesNotExist();
    }

    @Test
    void aSecondJobOfTheProgramIsRefused() throws Exception {
        assertThat(replay("--own-output", "--", out(1), live(), out(2)))
                .isEqualTo(ExitCode.FAILURE);
        assertThat(command.err()).contains("a second job, 'numbers'");
        assertThat(Path.of(out(2))).doesNotExist();
        assertThat(state()).isEqualTo("failed");
        assertStaysIfItCannotBeginAnew();
    }

    /** Its user may bring the jar back. */
    private void assertStaysIfItCannotBeginAnew() throws Exception {
        Files.delete(jar);
        String place = directory.resolve("replays").toString();
        assertThat(command.run("replay", "resume", "numbers", "--anew", "--dir", place))
                .isEqualTo(ExitCode.FAILURE);
        assertThat(command.err()).contains("numbers.jar", "try again: ./afterbay replay resume");
        assertThat(state()).isEqualTo("failed");
    }

    private int replay(String... more) throws Exception {
        List<String> args =
                new ArrayList<>(
                        List.of(
                                "replay",
                                "jar",
                                jar.toString(),
                                "--from",
                                "@500",
                                "--to",
                                "@700",
                                "--id",
                                "numbers",
                                "--nice",
                                "0",
                                "--memory",
                                "1g",
                                "--dir",
                                directory.resolve("replays").toString()));
        args.addAll(List.of(more));
        return command.run(args.toArray(String[]::new));
    }

    private String state() throws Exception {
        ReplayVerb status = ReplayVerb.run(directory.resolve("replays"), "status", "--json");
        assertThat(status.code()).isZero();
        return new ObjectMapper().readTree(status.out()).get(0).get("state").asText();
    }

    private String out(int number) {
        return directory.resolve("rows" + number).toString();
    }

    /** Where the live job has its checkpoints. */
    private String live() {
        return directory.resolve("live").toUri().toString();
    }

    /** Of files that are committed. */
    private static List<Integer> numbers(String output) throws IOException {
        List<Integer> numbers = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of(output))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (!file.getFileName().toString().startsWith(".")) {
                    Files.readAllLines(file).forEach(line -> numbers.add(Integer.valueOf(line)));
                }
            }
        }
        return numbers;
    }
}
