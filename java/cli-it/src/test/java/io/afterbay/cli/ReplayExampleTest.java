package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LongForm;
import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The example on a broker, as the guide says to run it. */
@DisabledOnOs(OS.WINDOWS)
class ReplayExampleTest {
    private static final Path HOME = Path.of("../..").toAbsolutePath().normalize();

    @TempDir private Path directory;
    private Path launcher;

    /** The real one would build, in the middle of a build. */
    @BeforeEach
    void makeLauncher() throws IOException {
        String command =
                OwnJvm.command(Afterbay.class.getName(), "-Dafterbay.home=" + HOME).stream()
                        .map(word -> "'" + word + "'")
                        .collect(Collectors.joining(" "));
        launcher =
                Files.writeString(
                        directory.resolve("afterbay"),
                        "#!/bin/sh\nexec %s \"$@\"\n".formatted(command));
        assertThat(launcher.toFile().setExecutable(true)).isTrue();
    }

    @Test
    @LongForm
    void aReplayBesideALiveJobThatIsPausedAndKilledLeavesTheRightTable() throws Exception {
        assertThat(run()).as(this::said).isZero();
        assertThat(said())
                .contains("is paused", "interrupted", "records, finished")
                .contains("all 5000 members have the title that is right");
    }

    @Test
    @LongForm
    void soDoesAScript() throws Exception {
        assertThat(run("--sql")).as(this::said).isZero();
        assertThat(said()).contains("all 5000 members have the title that is right");
    }

    /** The control: the past puts old titles over new ones. */
    @Test
    @LongForm
    void withoutTheMergeTheTableIsWrong() throws Exception {
        assertThat(run("--without-merge")).as(this::said).isEqualTo(1);
        assertThat(said()).containsPattern("of 5000 members, \\d+ have a wrong title");
    }

    private int run(String... options) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("sh", HOME.resolve("examples/replay/run.sh").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("--short", directory.resolve("example").toString()));
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(HOME.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("out").toFile());
        builder.environment().put("AFTERBAY", launcher.toString());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process example = builder.start();
        try {
            assertThat(example.waitFor(9, TimeUnit.MINUTES)).as(this::said).isTrue();
            return example.exitValue();
        } finally {
            example.descendants().forEach(ProcessHandle::destroyForcibly);
            example.destroyForcibly();
        }
    }

    private String said() {
        try {
            return Files.readString(directory.resolve("out"));
        } catch (IOException e) {
            return e.toString();
        }
    }
}
