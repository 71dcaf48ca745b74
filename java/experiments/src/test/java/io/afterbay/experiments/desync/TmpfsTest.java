package io.afterbay.experiments.desync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.afterbay.command.ByteSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TmpfsTest {
    private static final ByteSize LITTLE = new ByteSize(1);
    private static final Path USUAL = Path.of(Tmpfs.USUAL);

    @TempDir private Path directory;

    @Test
    void whatIsNotThereIsNamed() {
        assertThat(Tmpfs.problem(directory.resolve("none"), LITTLE))
                .contains(directory.resolve("none") + " is no directory");
    }

    @Test
    void aDiskIsNone() throws IOException {
        assumeFalse(Files.getFileStore(directory).type().equals("tmpfs"), "it is one here");
        assertThat(Tmpfs.problem(directory, LITTLE)).contains("use --work-dir for a disk");
    }

    @Test
    void memoryMustHaveRoom() {
        assumeTrue(Files.isDirectory(USUAL), "only Linux has it");
        assertThat(Tmpfs.problem(USUAL, LITTLE)).isEmpty();
        assertThat(Tmpfs.problem(USUAL, new ByteSize(Long.MAX_VALUE)))
                .contains(USUAL + " has ", "state and checkpoints need ");
    }
}
