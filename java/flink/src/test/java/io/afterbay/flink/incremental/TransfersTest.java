package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.testing.Await;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are uploaded and downloaded side by side. */
class TransfersTest {
    private static final int FILES = 8;
    private static final int FILE_BYTES = 10_000;
    private static final int THREADS = 4;

    @TempDir private Path directory;

    /** Nobody passes before all threads are there. */
    private final CyclicBarrier together = new CyclicBarrier(THREADS);

    private static byte[] content(int file) {
        byte[] content = new byte[FILE_BYTES];
        Arrays.fill(content, (byte) file);
        return content;
    }

    private static List<Base.Segment> segments() {
        List<Base.Segment> segments = new ArrayList<>();
        for (int i = 1; i <= FILES; i++) {
            segments.add(new Base.Segment(i, i + ".log", FILE_BYTES));
        }
        return segments;
    }

    private StoreOptions options() {
        return new StoreOptions(
                "restored",
                directory.resolve("store"),
                LocalFiles.system(),
                new MemoryBudget(1 << 20),
                Runnable::run,
                Runnable::run,
                Runnable::run,
                0,
                127,
                1.5,
                true);
    }

    private void meet() throws IOException {
        try {
            together.await(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IOException("not so many at a time", e);
        }
    }

    private static class Storage implements Downloads.Source {
        @Override
        public InputStream open(String name) throws IOException {
            int file = Integer.parseInt(name.substring(0, name.indexOf('.')));
            return new ByteArrayInputStream(content(file));
        }

        @Override
        public void close(InputStream in) {}
    }

    /** Nothing can be read before as many files are open as there are threads. */
    private final class MeetingStorage extends Storage {
        @Override
        public InputStream open(String name) throws IOException {
            meet();
            return super.open(name);
        }
    }

    @Test
    void segmentsAreDownloadedSideBySide() throws IOException {
        try (Downloads downloads = new Downloads(options(), THREADS)) {
            segments().forEach(segment -> downloads.begin(segment, new MeetingStorage()));
            for (Base.Segment segment : segments()) {
                try (LocalFile file = downloads.take(segment)) {
                    ByteBuffer read = ByteBuffer.allocate(FILE_BYTES + 1);
                    assertThat(file.read(read, 0)).isEqualTo(FILE_BYTES);
                    assertThat(Arrays.copyOf(read.array(), FILE_BYTES))
                            .isEqualTo(content(segment.number()));
                }
            }
        }
        assertThat(files()).hasSize(FILES);
    }

    @Test
    void whatNobodyTakesIsDeleted() throws IOException {
        try (Downloads downloads = new Downloads(options(), THREADS)) {
            segments().forEach(segment -> downloads.begin(segment, new Storage()));
            downloads.take(segments().get(0)).close();
        }
        assertThat(files()).containsExactly("1.log");
    }

    @Test
    void aFailedDownloadEndsTheOthers() throws IOException {
        Storage endless =
                new Storage() {
                    @Override
                    public InputStream open(String name) throws IOException {
                        InputStream in = super.open(name);
                        return name.equals("2.log") ? broken(in) : endless(in);
                    }
                };
        try (Downloads downloads = new Downloads(options(), THREADS)) {
            segments().forEach(segment -> downloads.begin(segment, endless));
            assertThatThrownBy(() -> downloads.take(segments().get(1)))
                    .isInstanceOf(IOException.class)
                    .hasMessage("2.log is gone");
        }
        assertThat(files()).isEmpty();
    }

    private static InputStream broken(InputStream in) {
        return new FilterInputStream(in) {
            @Override
            public int read(byte[] bytes) throws IOException {
                throw new IOException("2.log is gone");
            }
        };
    }

    private static InputStream endless(InputStream in) {
        return new FilterInputStream(in) {
            @Override
            public int read(byte[] bytes) {
                return 1;
            }
        };
    }

    @Test
    void aShorterFileIsRefused() throws IOException {
        Base.Segment longer = new Base.Segment(1, "1.log", FILE_BYTES + 1);
        try (Downloads downloads = new Downloads(options(), 1)) {
            downloads.begin(
                    longer,
                    new Storage() {
                        @Override
                        public InputStream open(String name) {
                            return new ByteArrayInputStream(content(1));
                        }
                    });
            assertThatThrownBy(() -> downloads.take(longer))
                    .hasMessage("1.log has 10000 bytes instead of 10001");
        }
        assertThat(files()).isEmpty();
    }

    /** The directory is deleted too if the store was not opened and nothing is left in it. */
    private List<String> files() throws IOException {
        Path store = directory.resolve("store");
        if (Files.notExists(store)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(store)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void filesAreUploadedSideBySide() throws IOException {
        Map<String, StoreImage.File> files = localFiles();
        CheckpointStreamFactory storage =
                new MemCheckpointStreamFactory(FILES * FILE_BYTES) {
                    @Override
                    public CheckpointStateOutputStream createCheckpointStateOutputStream(
                            CheckpointedStateScope scope) throws IOException {
                        meet();
                        return super.createCheckpointStateOutputStream(scope);
                    }
                };
        Uploads uploads = new Uploads(storage, new CloseableRegistry());

        uploads.share(files, THREADS);

        assertThat(uploads.createdBytes()).isEqualTo(FILES * (long) FILE_BYTES);
        assertThat(uploads.shared().stream().map(HandleAndLocalPath::getLocalPath))
                .containsExactlyElementsOf(files.keySet());
        int number = 1;
        for (HandleAndLocalPath file : uploads.shared()) {
            try (InputStream in = file.getHandle().openInputStream()) {
                assertThat(in.readAllBytes()).isEqualTo(content(number++));
            }
        }
    }

    @Test
    void aFailedUploadEndsTheOthers() throws IOException {
        Map<String, StoreImage.File> files = localFiles();
        Files.delete(directory.resolve("3.log"));
        Uploads uploads =
                new Uploads(new MemCheckpointStreamFactory(FILE_BYTES), new CloseableRegistry());
        assertThatThrownBy(() -> uploads.share(files, THREADS))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("3.log");
        uploads.discard(); // nothing is added after that
        long bytes = uploads.createdBytes();
        assertThat(bytes).isLessThan(FILES * (long) FILE_BYTES);
    }

    private Map<String, StoreImage.File> localFiles() throws IOException {
        Map<String, StoreImage.File> files = new LinkedHashMap<>();
        for (int i = 1; i <= FILES; i++) {
            Path file = Files.write(directory.resolve(i + ".log"), content(i));
            files.put(i + ".log", new StoreImage.File(i, file, FILE_BYTES));
        }
        return files;
    }
}
