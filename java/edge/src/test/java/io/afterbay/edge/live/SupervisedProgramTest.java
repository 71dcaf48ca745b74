package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class SupervisedProgramTest {
    @TempDir Path directory;

    /** A JVM that supervises a program, and does nothing else. */
    public static final class Parent {
        private Parent() {}

        /** Its argument is the directory. */
        public static void main(String[] arguments) throws Exception {
            Path directory = Path.of(arguments[0]);
            try (SupervisedProgram program = program(directory)) {
                program.firstLine();
                Files.createFile(directory.resolve("begun"));
                TimeUnit.DAYS.sleep(1);
            }
        }
    }

    /** Reads to the end of its input, and says then that it ends. */
    private static SupervisedProgram program(Path directory) throws Exception {
        Path ended = directory.resolve("ended");
        String script = "echo begun; cat; touch '%s'".formatted(ended);
        return SupervisedProgram.restarted("program", List.of("sh", "-c", script), directory);
    }

    private static void await(Path file, Process process) throws Exception {
        while (!Files.exists(file)) {
            assertThat(process.isAlive() || file.endsWith("ended")).isTrue();
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    @Test
    void itsProcessEndsWithThisOneAlsoIfThatIsKilled() throws Exception {
        Process parent =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Parent.class.getName(),
                                directory.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("parent.txt").toFile())
                        .start();
        try {
            await(directory.resolve("begun"), parent);
            assertThat(directory.resolve("ended")).doesNotExist();
        } finally {
            parent.destroyForcibly().waitFor();
        }
        await(directory.resolve("ended"), parent);
    }

    @Test
    void aProcessThatIsKilledIsStartedAgainAndSaysItsLineAnew() throws Exception {
        try (SupervisedProgram program = program(directory)) {
            assertThat(program.firstLine()).isEqualTo("begun");
            program.kill();
            while (program.kills() == 0) {
                assertThat(program.look()).isFalse();
                TimeUnit.MILLISECONDS.sleep(5);
            }
            assertThat(program.firstLine()).isEqualTo("begun");
        }
    }

    @Test
    void aProgramThatRunsOnceIsNotStartedAgain() throws Exception {
        Path begun = directory.resolve("begun");
        String script = "echo once >> '%s'; echo begun; cat".formatted(begun);
        List<String> command = List.of("sh", "-c", script);
        try (SupervisedProgram program = SupervisedProgram.once("program", command, directory)) {
            assertThat(program.firstLine()).isEqualTo("begun");
            assertThat(program.look()).isFalse();
            program.kill();
            assertThatThrownBy(() -> lookUntilItEnds(program))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessage("program: was killed by signal 9");
            assertThatThrownBy(program::look).isInstanceOf(CommandFailure.class);
            assertThat(begun).hasContent("once");
        }
    }

    private static void lookUntilItEnds(SupervisedProgram program) throws Exception {
        while (!program.look()) {
            assertThat(program.kills()).isZero();
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }
}
