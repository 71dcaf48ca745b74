package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether a published file is a local one. */
class FileManagerStorageTest {
    private static final int SIZE = 200_000;

    @TempDir private java.nio.file.Path dir;
    private final byte[] content = new byte[SIZE];
    private BytesInput opened;

    /** Remembers how far a file is read. */
    private final class Watched extends FileSystemBasedCheckpointFileManager {
        Watched(Path path) {
            super(path, new Configuration(false));
        }

        @Override
        public FSDataInputStream open(Path path) {
            try {
                opened =
                        new BytesInput(
                                Files.readAllBytes(java.nio.file.Path.of(path.toUri().getPath())));
            } catch (IOException e) {
                throw Rethrown.as(e);
            }
            return new FSDataInputStream(opened);
        }
    }

    private boolean isSame(byte[] published) throws IOException {
        java.nio.file.Path file = Files.write(dir.resolve("published"), published);
        java.nio.file.Path local = Files.write(dir.resolve("local"), content);
        Path directory = new Path(dir.toUri());
        return new FileManagerStorage(new Watched(directory), directory)
                .isSame(file.toString(), local);
    }

    private byte[] with(int at) {
        byte[] other = content.clone();
        other[at]++;
        return other;
    }

    @Test
    void comparesAllBytes() throws IOException {
        new Random(0).nextBytes(content);
        assertThat(isSame(content)).isTrue();
        assertThat(isSame(with(0))).isFalse();
        assertThat(isSame(with(SIZE - 1))).isFalse();
        assertThat(isSame(Arrays.copyOf(content, SIZE - 1))).isFalse();
        assertThat(isSame(Arrays.copyOf(content, SIZE + 1))).isFalse();
        assertThat(isSame(new byte[0])).isFalse();
    }

    @Test
    void readsNoMoreThanItNeeds() throws IOException {
        assertThat(isSame(with(0))).isFalse();
        assertThat(opened.getPos()).isPositive().isLessThan(SIZE / 2);
    }
}
