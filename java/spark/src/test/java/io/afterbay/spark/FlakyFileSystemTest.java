package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults come in the way in which Spark writes, not only in others. */
class FlakyFileSystemTest {
    @TempDir private java.nio.file.Path directory;

    private CheckpointFileManager manager(String fault, int value) {
        Configuration settings = new Configuration(false);
        settings.set("fs.flaky.impl", FlakyFileSystem.class.getName());
        settings.setBoolean("fs.flaky.impl.disable.cache", true);
        settings.setInt(fault, value);
        return new FileSystemBasedCheckpointFileManager(path("."), settings);
    }

    private Path path(String name) {
        return new Path(URI.create(FlakyFileSystem.SCHEME + "://" + directory.resolve(name)));
    }

    @Test
    void creationsFail() {
        CheckpointFileManager flaky = manager("fs.flaky.errors", 100);
        assertThatThrownBy(() -> flaky.createAtomic(path("a"), false))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot create");
    }

    @Test
    void creationsHang() throws IOException {
        long begin = System.nanoTime();
        manager("fs.flaky.hangs", 100).createAtomic(path("a"), false).close();
        assertThat(System.nanoTime() - begin).isGreaterThan(FlakyFileSystem.HANG_MS * 1_000_000L);
        assertThat(Files.exists(directory.resolve("a"))).isTrue();
    }

    @Test
    void logsTakeLonger() throws IOException {
        CheckpointFileManager slow = manager("fs.flaky.log-delay-ms", 200);
        long begin = System.nanoTime();
        slow.createAtomic(path("commits/0"), false).close();
        assertThat(System.nanoTime() - begin).isGreaterThan(200_000_000);
    }

    @Test
    void changelogsWaitAsLongAsTheyAreHeld() throws Exception {
        Path changelog = path("checkpoint/state/0/0/1.changelog");
        CheckpointFileManager files = manager("fs.flaky.delay-ms", 0);
        java.nio.file.Path hold = Files.createFile(directory.resolve(FlakyFileSystem.HOLD));
        CompletableFuture<Void> written = CompletableFuture.runAsync(() -> write(files, changelog));
        java.nio.file.Path folder = directory.resolve("checkpoint/state/0/0");
        Await.until("a file", () -> Files.isDirectory(folder) && folder.toFile().list().length > 0);
        // The others do not wait, and take longer than one that does not either.
        for (int batch = 0; batch < 50; batch++) {
            write(files, path("checkpoint/offsets/" + batch));
        }
        assertThat(written).isNotDone();
        assertThat(files.exists(changelog)).isFalse();
        Files.delete(hold);
        written.get(4, TimeUnit.MINUTES);
        assertThat(files.exists(changelog)).isTrue();
    }

    private static void write(CheckpointFileManager files, Path file) {
        try {
            files.createAtomic(file, false).close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void allFilesTogetherHaveABandwidth() throws IOException {
        CheckpointFileManager narrow = manager("fs.flaky.bytes-per-s", 200_000);
        long begin = System.nanoTime();
        for (String name : new String[] {"a", "b"}) {
            try (OutputStream out = narrow.createAtomic(path(name), false)) {
                out.write(new byte[40_000]);
            }
            assertThat(directory.resolve(name)).hasSize(40_000);
        }
        assertThat(System.nanoTime() - begin).isGreaterThan(380_000_000);
    }
}
