package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.FaultyLocalFiles.Operation.READ;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreTuning;
import io.afterbay.store.io.LocalFiles;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a store says of the pages that it reads, beside the reads of its files. */
class ReadAheadFiguresTest {
    private static final int LISTS = 3000;
    private static final int ELEMENT_BYTES = 84;
    private static final int ELEMENTS = 60 * LISTS;
    private static final int BATCH = 20;
    private static final Offset<Double> ROUNDING = within(1e-9);

    @TempDir private Path directory;
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final FaultyLocalFiles files = new FaultyLocalFiles(LocalFiles.system());
    private StateStore store;
    private ListStore lists;

    /** Without compaction, whose reads would be counted too. */
    @BeforeEach
    void open() {
        store =
                StateStores.open(
                        new StoreOptions(
                                "lists",
                                directory.resolve("store"),
                                files,
                                new MemoryBudget(4 << 20),
                                Runnable::run,
                                compaction -> {},
                                Runnable::run,
                                0,
                                127,
                                StoreOptions.DEFAULT_MAX_SPACE_AMPLIFICATION,
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

    /** In the end only to the last lists, so that the pages of the others are in files. */
    private void append() {
        append(ELEMENTS, 0);
        append(ELEMENTS / 4, LISTS - LISTS / 10);
    }

    private void append(int elements, int from) {
        SplittableRandom random = new SplittableRandom(5);
        byte[] element = new byte[ELEMENT_BYTES];
        for (int i = 0; i < elements; i++) {
            random.nextBytes(element); // does not compress
            lists.append(key(random.nextInt(from, LISTS)), element, 0, ELEMENT_BYTES);
        }
    }

    private void read(int from, int to) {
        Slice element = new Slice();
        for (int list = from; list < to; list++) {
            store.releaseReaders();
            ListReader.Elements elements = Objects.requireNonNull(lists.get(key(list))).elements();
            while (elements.next(element)) {
                assertThat(element.length()).isEqualTo(ELEMENT_BYTES);
            }
        }
    }

    /** Returns how many pages were read: nearly all from files, some from write buffers. */
    private long readAhead(int from) {
        List<StateKey> keys = IntStream.range(from, from + BATCH).mapToObj(i -> key(i)).toList();
        keys.forEach(lists::get); // so that all else is in memory
        store.releaseReaders();
        long before = store.stats().pagesReadAhead();
        long reads = files.count(READ);
        lists.readAhead(keys);
        long pages = store.stats().pagesReadAhead() - before;
        assertThat(files.count(READ) - reads).isBetween(pages * 9 / 10, pages);
        return pages;
    }

    @Test
    void areOneBeforeAnythingIsRead() {
        assertThat(store.stats().readAheadHitRatio()).isEqualTo(1);
        assertThat(store.stats().readAmplification()).isEqualTo(1);
    }

    @Test
    void whatIsUsedIsReadOnce() {
        append();
        assertThat(readAhead(0)).isGreaterThan(2 * BATCH);
        read(0, BATCH);
        read(1000, 2000);
        assertThat(store.stats().readAheadHitRatio()).isEqualTo(1);
        assertThat(store.stats().readAmplification()).isEqualTo(1);
    }

    /** FlowKV, section 4.2, equation 1. */
    @Test
    void whatIsReadInVainIsCounted() {
        append();
        long inVain = readAhead(0);
        read(1000, 2000); // these take its place
        long used = readAhead(2000);
        read(2000, 2000 + BATCH);
        read(0, BATCH);

        assertThat(store.stats().pagesReadInVain()).isEqualTo(inVain);
        assertThat(store.stats().readAheadHitRatio())
                .isCloseTo((double) used / (inVain + used), ROUNDING)
                .isBetween(0.3, 0.7);
        long alone = store.stats().pageFaults();
        assertThat(store.stats().readAmplification())
                .isCloseTo((double) (alone + inVain + used) / (alone + used), ROUNDING)
                .isGreaterThan(1);
    }
}
