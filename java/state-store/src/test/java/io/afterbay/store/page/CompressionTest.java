package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pages on their way to files and back. */
class CompressionTest {
    /** Several times the budget. */
    private static final int TOTAL_BYTES = 6 << 20;

    @TempDir private Path directory;

    @ParameterizedTest
    @CsvSource({
        "512, true, true",
        "1024, true, true",
        "4096, true, true",
        "32768, true, true",
        "512, true, false",
        "4096, true, false",
        "32768, true, false",
        "4096, false, true"
    })
    void pagesComeBackAsTheyWere(int pageBytes, boolean compression, boolean isCompressible) {
        try (Opened store = new Opened(compression)) {
            int[] ids = store.fill(pageBytes, isCompressible);
            for (int i = 0; i < ids.length; i++) {
                store.pages.safepoint();
                assertThat(store.bytesOf(ids[i], pageBytes))
                        .isEqualTo(content(i, pageBytes, isCompressible));
            }
            long written = store.pages.stats().writtenBytes();
            assertThat(written).isPositive();
            if (compression && isCompressible) {
                assertThat(store.pages.stats().diskLiveBytes()).isLessThan(TOTAL_BYTES * 2 / 3);
            }
        }
    }

    /** Compaction copies blocks without decompressing them. */
    @Test
    void compactedPagesComeBackAsTheyWere() {
        int pageBytes = 1024;
        try (Opened store = new Opened(true)) {
            int[] ids = store.fill(pageBytes, true);
            for (int round = 0; store.pages.stats().relocatedBytes() == 0; round++) {
                assertThat(round).as("rounds without compaction").isLessThan(50);
                for (int i = 0; i < ids.length; i += 2) {
                    store.pages.safepoint();
                    store.put(store.pages.modify(ids[i]), content(i + round, pageBytes, false));
                }
                for (int i = 0; i < ids.length; i += 2) {
                    store.pages.safepoint();
                    store.put(store.pages.modify(ids[i]), content(i, pageBytes, true));
                }
            }
            for (int i = 0; i < ids.length; i++) {
                store.pages.safepoint();
                assertThat(store.bytesOf(ids[i], pageBytes)).isEqualTo(content(i, pageBytes, true));
            }
        }
    }

    @Test
    void aDamagedBlockIsNamed() throws IOException {
        try (Opened store = new Opened(true)) {
            int[] ids = store.fill(1024, true);
            for (Path file : store.segments()) {
                flip(file, 100);
            }
            assertThatThrownBy(
                            () -> {
                                for (int id : ids) {
                                    store.pages.safepoint();
                                    store.pages.address(id);
                                }
                            })
                    .isInstanceOf(StateStoreException.class)
                    .hasMessageContaining(".log: cannot read at byte ")
                    .hasMessageContaining("damaged");
        }
    }

    private static void flip(Path file, long offset) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, offset);
            channel.write(one.put(0, (byte) (one.get(0) ^ 1)).flip(), offset);
        }
    }

    private static byte[] content(int number, int pageBytes, boolean isCompressible) {
        byte[] random = new byte[isCompressible ? pageBytes / 2 : pageBytes];
        new Random(number).nextBytes(random);
        return Arrays.copyOf(random, pageBytes);
    }

    /** A store with little memory. */
    private final class Opened implements AutoCloseable {
        private final PageStore pages;

        Opened(boolean compression) {
            pages =
                    new PageStore(
                            new StoreOptions(
                                    "compressed",
                                    directory.resolve("store"),
                                    LocalFiles.system(),
                                    new MemoryBudget(1 << 20),
                                    Runnable::run,
                                    Runnable::run,
                                    Runnable::run,
                                    0,
                                    127,
                                    1.5,
                                    compression));
        }

        int[] fill(int pageBytes, boolean isCompressible) {
            int[] ids = new int[TOTAL_BYTES / pageBytes];
            for (int i = 0; i < ids.length; i++) {
                pages.safepoint();
                ids[i] = pages.allocate(pageBytes, PageStore.TREE_STREAM, 0);
                put(pages.address(ids[i]), content(i, pageBytes, isCompressible));
            }
            return ids;
        }

        void put(long page, byte[] content) {
            Memory.write(content, 0, page, content.length);
        }

        byte[] bytesOf(int pageId, int pageBytes) {
            byte[] bytes = new byte[pageBytes];
            Memory.read(pages.address(pageId), bytes, 0, pageBytes);
            return bytes;
        }

        List<Path> segments() throws IOException {
            try (Stream<Path> files = Files.list(directory.resolve("store"))) {
                return files.toList();
            }
        }

        @Override
        public void close() {
            pages.close();
        }
    }
}
