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
import io.afterbay.store.StoreTuning;
import io.afterbay.store.io.LocalFiles;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
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
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
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
                                true,
                                threads,
                                StoreTuning.DEFAULT));
        lists = store.lists("elements", ReadAlignment.UNALIGNED);
    }

    @AfterEach
    void close() {
        store.close();
        threads.shutdown();
    }

    private static StateKey key(int list) {
        return new StateKey().setKey(list & 127, ByteBuffer.allocate(8).putInt(list).array());
    }

    /** Does not compress, and tells its list and place. */
    private static byte[] element(int list, int place) {
        byte[] bytes = new byte[ELEMENT_BYTES];
        new SplittableRandom((long) list << 32 | place).nextBytes(bytes);
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

    /** FlowKV, section 4.2. */
    @Test
    void listsThatWereReadAheadAreReadFromMemory() {
        append();
        int ahead = 20;
        long faults = 0;
        for (int from = 0; from < LISTS; from += ahead) {
            assertThat(lists.readAhead(keys(from, ahead))).isBetween(0, ahead);
            long before = store.stats().pageFaults();
            for (int list = from; list < from + ahead; list++) {
                verify(list);
            }
            faults += store.stats().pageFaults() - before;
        }
        assertThat(store.stats().pagesReadAhead()).isGreaterThan(5 * LISTS);
        assertThat(faults).as("pages that made room for others").isLessThan(LISTS / 10);
        assertThat(lists.readAhead(keys(LISTS - 1, 1))).as("it is in memory").isZero();
        assertThat(lists.readAhead(keys(LISTS, 9))).as("there are none").isZero();
    }

    private static List<StateKey> keys(int from, int count) {
        return IntStream.range(from, from + count).mapToObj(UnalignedListsTest::key).toList();
    }

    /** As for timers that read no list. */
    @Test
    void restsIfWhatWasReadIsNotUsed() {
        append();
        for (int from = 0; from < 3 * LISTS; from += 10) {
            lists.readAhead(keys(from % LISTS, 10));
        }
        assertThat(store.stats().pagesReadAhead())
                .as("of five pages for each list, three times")
                .isBetween(1000L, 10L * LISTS);
        for (int list = 0; list < LISTS; list += 100) {
            verify(list);
        }
    }

    /** One that is far too large, and then more than fit at a time. */
    @Test
    void whatIsReadAheadIsBounded() {
        for (int place = 0; place < ELEMENTS; place++) {
            lists.append(key(7), element(7, place), 0, ELEMENT_BYTES);
        }
        append();
        assertThat(lists.readAhead(keys(7, 1))).as("it is left out").isZero();
        assertThat(store.stats().pagesReadAhead()).isZero();
        assertThat(lists.readAhead(List.of(key(7), key(8), key(8)))).isEqualTo(3);
        assertThat(store.stats().pagesReadAhead()).as("one list").isBetween(1L, 20L);
        assertThat(lists.readAhead(keys(1000, 500))).isBetween(1, 100);
        assertThat(store.stats().memoryBytes()).isLessThanOrEqualTo(4 << 20);
        lengths[7] = 0; // neither counted nor verified
        verify(1000);
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
