package io.afterbay.workloads.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReplayableFileTest {
    @TempDir private Path directory;

    @Test
    void aRestartCutsOffWhatCameAfterTheCheckpoint() throws Exception {
        Path path = directory.resolve("out.csv");
        long length;
        try (ReplayableFile file = ReplayableFile.create(path.toString(), "header")) {
            file.write("one");
            file.sync();
            length = file.length();
            file.write("two");
        }
        assertThat(path).hasContent("header\none\ntwo\n");
        try (ReplayableFile file = ReplayableFile.resume(path.toString(), length)) {
            file.write("two again");
        }
        assertThat(path).hasContent("header\none\ntwo again\n");
        ReplayableFile.create(path.toString(), "anew").close();
        assertThat(path).hasContent("anew\n");
    }

    @Test
    void linesLargerThanTheBufferAreWrittenWhole() throws Exception {
        Path path = directory.resolve("out.csv");
        String large = "x".repeat(200_000);
        try (ReplayableFile file = ReplayableFile.create(path.toString(), "header")) {
            file.write("small");
            file.write(large);
            file.write("small");
            assertThat(file.length()).isEqualTo(7 + 6 + 200_001 + 6);
        }
        assertThat(Files.readAllLines(path)).containsExactly("header", "small", large, "small");
    }

    @Test
    void aShorterFileThanTheCheckpointKnowsIsNotContinued() throws Exception {
        Path path = directory.resolve("out.csv");
        Files.writeString(path, "header\n");
        assertThatThrownBy(() -> ReplayableFile.resume(path.toString(), 100))
                .isInstanceOf(WorkloadException.class)
                .hasMessageContainingAll(path.toString(), "100 bytes");
    }

    @Test
    void messagesNameTheFileAndTheWayOut() {
        String missing = directory.resolve("no/out.csv").toString();
        assertThatThrownBy(() -> ReplayableFile.create(missing, "header"))
                .isInstanceOf(WorkloadException.class)
                .hasMessageContainingAll(missing, "there is no directory", "create it");
        assertThatThrownBy(() -> ReplayableFile.create(directory.toString(), "header"))
                .isInstanceOf(WorkloadException.class)
                .hasMessageContainingAll(directory.toString(), "is a directory");
    }
}
