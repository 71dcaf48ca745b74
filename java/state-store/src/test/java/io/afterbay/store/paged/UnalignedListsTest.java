package io.afterbay.store.paged;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreStats;
import io.afterbay.store.io.LocalFiles;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What lists cost that are appended to each at its own time, with more of them than memory. */
class UnalignedListsTest {
    private static final int LISTS = 3000;
    private static final int ELEMENT_BYTES = 84;
    private static final int ELEMENTS = 60 * LISTS;

    @TempDir private Path directory;
    private final Random random = new Random(5);
    private final int[] lengths = new int[LISTS];
    private StateStore store;
    private ListStore lists;

    @BeforeEach
    void open() {
        store =
                StateStores.open(
                        new StoreOptions(
                                "lists",
                                directory.resolve("store"),
                                LocalFiles.system(),
                                new MemoryBudget(4 << 20),
                                Runnable::run,
                                Runnable::run,
                                Runnable::run,
                                0,
                                127,
                                1.5,
                                true));
        lists = store.lists("elements", ReadAlignment.UNALIGNED);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static StateKey key(int list) {
        return new StateKey().setKey(list & 127, ByteBuffer.allocate(8).putInt(list).array());
    }

    /** Does not compress, and tells its list and place. */
    private static byte[] element(int list, int place) {
        byte[] bytes = new byte[ELEMENT_BYTES];
        new Random((long) list << 32 | place).nextBytes(bytes);
        ByteBuffer.wrap(bytes).putInt(list).putInt(place);
        return bytes;
    }

    private void append() {
        for (int i = 0; i < ELEMENTS; i++) {
            int list = random.nextInt(LISTS);
            lists.append(key(list), element(list, lengths[list]++), 0, ELEMENT_BYTES);
        }
    }

    private void verify(int list) {
        store.releaseReaders();
        ListReader reader = Objects.requireNonNull(lists.get(key(list)));
        assertThat(reader.size()).isEqualTo(lengths[list]);
        Slice read = new Slice();
        int place = 0;
        for (ListReader.Elements elements = reader.elements(); elements.next(read); place++) {
            assertThat(read.toByteArray()).isEqualTo(element(list, place));
        }
        assertThat(place).isEqualTo(lengths[list]);
    }

    @Test
    void anElementIsWrittenOnceAndAnAppendReadsNothing() {
        append();
        StoreStats stats = store.stats();
        assertThat(stats.diskLiveBytes()).isGreaterThan(stats.memoryLimitBytes());
        assertThat((double) stats.writtenBytes() / ELEMENTS).isLessThan(1.2 * ELEMENT_BYTES);
        assertThat((double) stats.pageFaults() / ELEMENTS).isLessThan(0.05);
        for (int list = 0; list < LISTS; list++) {
            verify(list);
        }
    }

    @Test
    void aLongListIsReadInLargePieces() {
        for (int place = 0; place < ELEMENTS; place++) {
            lists.append(key(7), element(7, place), 0, ELEMENT_BYTES);
        }
        lengths[7] = ELEMENTS;
        long before = store.stats().pageFaults();
        verify(7);
        assertThat(store.stats().pageFaults() - before)
                .isLessThan(ELEMENTS * ELEMENT_BYTES / (16 << 10));
    }
}
