package io.afterbay.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LiveTree;
import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a killed process has left is deleted by the next one, what a living one has is not. */
class LocalDirectoryTest {
    private static final String ENDS = "ends";

    @TempDir private Path root;
    private Process other;

    /** Has files as a backend has, until it is killed, or behind its end. */
    public static final class Other {
        private Other() {}

        public static void main(String[] args) throws Exception {
            LocalDirectory directory =
                    LocalDirectory.claim(Path.of(args[0]), "job", "the op (1/1)");
            fill(directory);
            if (args[1].equals(ENDS)) {
                directory.close();
            }
            System.out.println("ready"); // the test waits for it
            Thread.sleep(TimeUnit.MINUTES.toMillis(5));
            directory.close();
        }
    }

    private static void fill(LocalDirectory directory) throws IOException {
        for (String suffix : List.of("", "_redo", "_kept", "_restore-0")) {
            Path path = directory.path().resolveSibling(directory.path().getFileName() + suffix);
            Files.writeString(Files.createDirectories(path).resolve("00000001.log"), "state");
        }
    }

    @BeforeEach
    void startOther() throws IOException {
        other = start("lives");
    }

    private Process start(String how) throws IOException {
        List<String> command = OwnJvm.command(Other.class.getName(), "-Xshare:auto");
        command.addAll(List.of(root.toString(), how));
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        assertThat(process.inputReader().readLine()).isEqualTo("ready");
        return process;
    }

    @AfterEach
    void endOther() {
        other.destroyForcibly();
    }

    private long entries() throws IOException {
        return LiveTree.files(root).size();
    }

    @Test
    void ofAKilledProcessEverythingIsDeleted() throws Exception {
        assertThat(LocalDirectory.collectLeftovers(root)).as("while it lives").isZero();
        assertThat(entries()).isEqualTo(5);
        other.destroyForcibly().waitFor();
        try (LocalDirectory own = LocalDirectory.claim(root, "job", "the op (1/1)")) {
            fill(own);
            assertThat(LocalDirectory.collectLeftovers(root)).isEqualTo(1);
            assertThat(entries()).as("of this process").isEqualTo(5);
            assertThat(own.path().resolve("00000001.log")).exists();
        }
        assertThat(entries()).as("files that nobody has deleted keep their lock").isEqualTo(5);
    }

    /** As when a file could not be deleted. */
    @Test
    void whatABackendLeavesIsDeletedByTheNextProcess() throws Exception {
        other.destroyForcibly().waitFor();
        Process ended = start(ENDS);
        assertThat(LocalDirectory.collectLeftovers(root)).isEqualTo(2);
        assertThat(entries()).isZero();
        ended.destroyForcibly();
    }

    @Test
    void nothingIsLeftOfABackendThatHasDeletedItsFiles() throws Exception {
        long before = entries();
        LocalDirectory own = LocalDirectory.claim(root, "job", "the op (1/1)");
        assertThat(entries()).as("a lock").isEqualTo(before + 1);
        own.close();
        assertThat(entries()).isEqualTo(before);
    }

    /** Files of other programs, and of versions that had no locks. */
    @Test
    void whatHasNoLockStays() throws Exception {
        other.destroyForcibly().waitFor();
        Path stranger = root.resolve("afterbay_job_1_op_2_3");
        Files.writeString(Files.createDirectories(stranger).resolve("file"), "state");
        assertThat(LocalDirectory.collectLeftovers(root)).isEqualTo(1);
        assertThat(LocalDirectory.collectLeftovers(root)).isZero();
        assertThat(stranger.resolve("file")).exists();
        assertThat(entries()).isEqualTo(1);
    }

    @Test
    void spillingDirectoriesOfOtherStartsAreLookedInto() throws Exception {
        Path before = Files.createDirectory(root.resolve("flink-io-before"));
        Path now = Files.createDirectory(root.resolve("flink-io-now"));
        assertThat(LocalDirectories.besides(root.toFile())).as("its name stays").isEmpty();
        assertThat(LocalDirectories.besides(now.toFile())).containsExactlyInAnyOrder(before, now);
        assertThat(LocalDirectories.besides(before.toFile())).as("once a process").isEmpty();
    }
}
