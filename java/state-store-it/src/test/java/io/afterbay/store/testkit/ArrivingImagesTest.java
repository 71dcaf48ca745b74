package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.Churn.LAST_KEY_GROUP;
import static io.afterbay.store.testkit.StoreFixture.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.ArrivingFile;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.redo.RedoReplay;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Stores that work while the files with their content arrive. */
class ArrivingImagesTest {
    private static final int KEYS = 3000;
    private static final int VALUE_BYTES = 1000;

    /** More than the hot tier has room for as a rule. */
    private static final int CHANGED = 400;

    @TempDir private Path directory;
    private final ExecutorService background = Executors.newFixedThreadPool(2);
    private final ArrivingImages images = new ArrivingImages();
    private final List<StateStore> stores = new ArrayList<>();

    /** What the store "filling" has, by the number of the key. */
    private final Map<Integer, Bytes> model = new HashMap<>();

    @AfterEach
    void close() throws IOException {
        stores.forEach(StateStore::close);
        images.close();
        background.shutdown();
        assertThat(directory).isEmptyDirectory();
    }

    private StoreOptions options() {
        return options(1 << 20);
    }

    private StoreOptions options(long budgetBytes) {
        return TestOptions.of(
                directory.resolve("store-" + stores.size()),
                LocalFiles.system(),
                new MemoryBudget(budgetBytes),
                background,
                0,
                LAST_KEY_GROUP);
    }

    private StateStore keep(StateStore store) {
        stores.add(store);
        return store;
    }

    /** Most of it on disk. */
    private StateStore filled() {
        StateStore store = keep(StateStores.open(options()));
        for (int i = 0; i < KEYS; i++) {
            put(store, i, i);
        }
        return store;
    }

    private void put(StateStore store, int i, long seed) {
        byte[] value = StoreFixture.noise(seed, VALUE_BYTES);
        StoreFixture.put(store.values("filling"), key(i % (LAST_KEY_GROUP + 1), "key-" + i), value);
        model.put(i, new Bytes(value));
    }

    private void assertHas(StateStore store, int i) {
        assertThat(
                        StoreFixture.get(
                                store.values("filling"), key(i % (LAST_KEY_GROUP + 1), "key-" + i)))
                .isEqualTo(model.get(i));
    }

    private static Object content(StateStore store) {
        return Churn.content(store, 0, LAST_KEY_GROUP);
    }

    @Test
    void aStoreReadsWhatHasNotArrived() throws IOException {
        StateStore copy = keep(images.copy(filled(), options()));
        assertThat(images.missingBytes()).isGreaterThan(KEYS * VALUE_BYTES / 2);
        assertHas(copy, 7);
        assertThat(images.missingBytes())
                .as("and only that")
                .isPositive()
                .isGreaterThan(images.fetchedBytes.get());
        for (int i = 0; i < KEYS; i++) {
            assertHas(copy, i);
        }
    }

    /** Nor does what is done with the changed entries afterwards, until all is here. */
    @Test
    void theReplayOfALogFetchesNothing() throws IOException {
        StateStore first = filled();
        StateStore copy = keep(images.copy(first, options(4 << 20)));
        List<byte[]> log = new ArrayList<>();
        first.startRedo((bytes, length) -> log.add(Arrays.copyOf(bytes, length)));
        for (int i = 0; i < CHANGED; i++) {
            put(first, i, -i);
        }
        first.flushRedo();
        long before = images.fetchedBytes.get();
        replay(log, copy);
        for (int i = 0; i < 5 * CHANGED; i++) {
            assertHas(copy, i % CHANGED);
        }
        copy.resumeRedo((bytes, length) -> {});
        copy.expectSnapshot(true);
        for (int i = 0; i < CHANGED; i++) {
            put(copy, i, i);
        }
        copy.flushRedo();
        assertThat(images.fetchedBytes.get()).isEqualTo(before);
        assertHas(copy, KEYS - 1);
        assertThat(images.fetchedBytes.get()).as("control").isGreaterThan(before);
    }

    private static void replay(List<byte[]> log, StateStore target) {
        RedoReplay replay = new RedoReplay(target, 0, LAST_KEY_GROUP);
        target.beginReplay(log.stream().mapToLong(chunk -> chunk.length).sum());
        log.forEach(chunk -> replay.apply(chunk, chunk.length));
        target.endReplay();
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, TestForm.STORE_SEEDS);
    }

    /** Changes, snapshots and reads in random order while chunks arrive in random order. */
    @ParameterizedTest
    @MethodSource("seeds")
    void agreesWithTheModelWhileFilesArrive(long seed) throws IOException {
        Random random = new Random(seed);
        StateStore first = filled();
        Churn.change(first, 1);
        StateStore copy = keep(images.copy(first, options()));
        for (int step = 0; step < 3000; step++) {
            int i = random.nextInt(KEYS);
            switch (random.nextInt(16)) {
                case 0 -> images.bringOne(random);
                case 1, 2, 3, 4, 5 -> put(copy, i, random.nextLong());
                default -> assertHas(copy, i);
            }
            if (step % 750 == 0) {
                Churn.change(first, step);
                Churn.change(copy, step);
                assertThat(content(copy)).isEqualTo(content(first));
            }
            if (step == 1600) { // what has arrived and what has not, in one image
                copy = keep(images.copy(copy, options()));
            }
        }
        images.bringAll();
        for (int i = 0; i < KEYS; i++) {
            assertHas(copy, i);
        }
        assertThat(content(copy)).isEqualTo(content(first));
        assertThat(images.missingBytes()).isZero();
    }

    /** The state changes as a whole before anything has arrived: nothing is fetched to be moved. */
    @Test
    void whatIsNotNeededAnyMoreDoesNotArrive() throws IOException {
        StateStore copy = keep(images.copy(filled(), options()));
        copy.drop("filling");
        for (int i = 0; i < KEYS; i++) {
            StoreFixture.put(copy.values("other"), key(1, "key-" + i), StoreFixture.noise(i, 1000));
        }
        assertThat(images.missingBytes()).isZero();
        assertThat(images.arriving).isNotEmpty().allMatch(ArrivingFile::isClosed);
    }

    @Test
    void whatIsRewrittenMeanwhileIsNotLost() throws IOException {
        StateStore copy = keep(images.copy(filled(), options()));
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < KEYS; i += 2) { // half of each segment is garbage
                put(copy, i, i + (long) KEYS * round);
            }
        }
        images.bringAll();
        for (int i = 0; i < KEYS; i++) {
            assertHas(copy, i);
        }
    }

    @Test
    void aFileThatDoesNotArriveFailsTheStore() throws IOException {
        StateStore copy = keep(images.copy(filled(), options()));
        images.arriving.get(0).fail(new IOException("cannot download 00000001.log: it is gone"));
        assertThatThrownBy(() -> put(copy, 1, 1))
                .isInstanceOf(StateStoreException.class)
                .hasMessageContaining("cannot download 00000001.log: it is gone")
                .hasMessageContaining("must restore from its last checkpoint");
        assertThat(copy.hasFailed()).isTrue();
    }

    /**
     * Pages have checksums of their own; that it is a segment at all is looked at when it is here.
     */
    @Test
    void aFileOfAnotherKindFailsTheStore() throws IOException {
        StateStore copy = keep(images.copy(filled(), options()));
        ArrivingFile file = images.arriving.get(0);
        for (long at = file.nextMissing(0); at >= 0; at = file.nextMissing(at)) {
            file.put(ByteBuffer.allocate(file.chunkBytes(at)), at);
        }
        assertThatThrownBy(() -> put(copy, 1, 1))
                .isInstanceOf(StateStoreException.class)
                .hasMessageContaining("does not begin as segment");
    }

    @Test
    void aStoreThatIsClosedBeforeLeavesNothing() throws IOException {
        StateStore copy = keep(images.copy(filled(), options()));
        assertHas(copy, 1);
        copy.close();
        assertThat(images.arriving).allMatch(ArrivingFile::isClosed);
        images.bringAll();
    }
}
