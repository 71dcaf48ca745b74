package io.afterbay.orphans;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collection;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SerializedPathsTest {
    @TempDir private java.nio.file.Path directory;

    /** As they come out of Flink's format, and with all that they are nested in. */
    @Test
    void findsTheFilesOfAllHandles() throws IOException {
        Path checkpoint = new Path("file", null, directory.toString());
        AllHandles handles = new AllHandles(checkpoint);
        ByteArrayOutputStream metadata = new ByteArrayOutputStream();
        Checkpoints.storeCheckpointMetadata(handles.all(), metadata);
        Files.write(directory.resolve("_metadata"), metadata.toByteArray());
        Collection<Path> found =
                CheckpointPaths.ofAllHandles()
                        .of(
                                Checkpoints.loadCheckpointMetadata(
                                        new DataInputStream(
                                                new ByteArrayInputStream(metadata.toByteArray())),
                                        getClass().getClassLoader(),
                                        checkpoint.toString()));
        assertThat(handles.files()).hasSizeGreaterThan(30);
        assertThat(found.stream().map(Path::getName))
                .containsExactlyInAnyOrderElementsOf(
                        handles.files().stream().map(Path::getName).toList());
    }
}
