package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.Churn.LAST_KEY_GROUP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.testkit.FaultyLocalFiles.Fault;
import io.afterbay.store.testkit.FaultyLocalFiles.Operation;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores that are opened from images of others, and live on. */
class StoreImageTest {
    @TempDir private Path directory;
    private final ExecutorService background = Executors.newFixedThreadPool(2);
    private final List<StateStore> stores = new ArrayList<>();

    @AfterEach
    void close() {
        stores.forEach(StateStore::close);
        background.shutdown();
    }

    private StoreOptions options(LocalFiles files, long budgetBytes) {
        return options(files, new MemoryBudget(budgetBytes));
    }

    private StoreOptions options(LocalFiles files, MemoryBudget budget) {
        return TestOptions.of(
                directory.resolve("store-" + stores.size()),
                files,
                budget,
                background,
                0,
                LAST_KEY_GROUP);
    }

    private StateStore open(LocalFiles files) {
        return keep(StateStores.open(options(files, 1 << 20)));
    }

    private StateStore keep(StateStore store) {
        stores.add(store);
        return store;
    }

    /** What lies on disk is more than fits in memory. */
    private static void fill(StateStore store) {
        for (int i = 0; i < 3000; i++) {
            StoreFixture.put(
                    store.values("filling"),
                    StoreFixture.key(i % (LAST_KEY_GROUP + 1), "key-" + i),
                    StoreFixture.noise(i, 1000));
        }
    }

    private static Object content(StateStore store) {
        return Churn.content(store, 0, LAST_KEY_GROUP);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 16})
    void generationsOfCopiesLiveOnAsTheFirstDoes(int budgets) throws IOException {
        StateStore first = open(LocalFiles.system());
        StateStore copy = first;
        for (int round = 1; round <= 6; round++) {
            copy = keep(Images.copy(copy, options(LocalFiles.system(), (long) budgets << 20)));
            fill(copy);
            fill(first);
            for (int again = 0; again < 3; again++) {
                Churn.change(first, 10 * round + again);
                Churn.change(copy, 10 * round + again);
            }
            assertThat(content(copy)).as("round %d", round).isEqualTo(content(first));
            assertThat(copy.triggers("triggers").size())
                    .isEqualTo(first.triggers("triggers").size())
                    .isPositive();
        }
    }

    /** As when a job restarts: the tasks of a slot restore their states one after the other. */
    @Test
    void aCopyMayOpenWhenOthersHoldTheWholeBudget() throws IOException {
        StateStore first = open(LocalFiles.system());
        fill(first);
        Churn.change(first, 1);
        MemoryBudget shared = new MemoryBudget(2 << 20);
        fill(keep(StateStores.open(options(LocalFiles.system(), shared))));
        assertThat(shared.tryReserve(64 << 10)).isFalse();

        StateStore copy = keep(Images.copy(first, options(LocalFiles.system(), shared)));

        assertThat(content(copy)).isEqualTo(content(first));
        assertThat(StoreFixture.get(copy.values("filling"), StoreFixture.key(1, "key-2001")))
                .isEqualTo(new Bytes(StoreFixture.noise(2001, 1000)));
    }

    @Test
    void triggersOfACopyComeInTheSameOrder() throws IOException {
        StateStore first = open(LocalFiles.system());
        Churn.change(first, 1);
        StateStore copy = keep(Images.copy(first, options(LocalFiles.system(), 1 << 20)));
        long triggers = first.triggers("triggers").size();
        for (long i = 0; i < triggers; i++) {
            assertThat(StoreFixture.poll(copy.triggers("triggers")))
                    .isEqualTo(StoreFixture.poll(first.triggers("triggers")))
                    .isNotNull();
        }
        assertThat(StoreFixture.poll(copy.triggers("triggers"))).isNull();
    }

    /** The image keeps its files, whatever the store does; then they go. */
    @Test
    void filesStayUntilTheImageIsClosed() throws IOException {
        StateStore store = open(LocalFiles.system());
        fill(store);
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        StoreImage image;
        Object before;
        try (StoreSnapshot snapshot = store.snapshot()) {
            before = content(store);
            image = snapshot.image(index);
        }
        store.drop("filling");
        Churn.change(store, 1);
        StoreOptions options = options(LocalFiles.system(), 1 << 20);
        StateStore copy =
                keep(
                        StateStores.open(
                                options,
                                new ByteArrayInputStream(index.toByteArray()),
                                Images.linked(image, options)));
        assertThat(content(copy)).isEqualTo(before);
        assertThat(StoreFixture.get(copy.values("filling"), StoreFixture.key(1, "key-2001")))
                .isEqualTo(new Bytes(StoreFixture.noise(2001, 1000)));
        List<StoreImage.File> files = image.files();
        assertThat(files).hasSizeGreaterThan(1).allMatch(file -> Files.exists(file.path()));
        image.close();
        image.close();
        store.close();
        copy.close();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aStoreThatIsClosedBeforeItsImageLeavesNothing() throws IOException {
        StateStore store = open(LocalFiles.system());
        fill(store);
        StoreImage image;
        try (StoreSnapshot snapshot = store.snapshot()) {
            image = snapshot.image(new ByteArrayOutputStream());
        }
        store.close();
        image.close();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aFullDiskFailsTheImageAndNotTheStore() throws IOException {
        FaultyLocalFiles files = new FaultyLocalFiles(LocalFiles.system());
        StateStore store = open(files);
        Churn.change(store, 1);
        Object before = content(store);
        files.on(Operation.WRITE, files.count(Operation.WRITE) + 1, Fault.diskFull());
        try (StoreSnapshot snapshot = store.snapshot()) {
            assertThatThrownBy(() -> snapshot.image(new ByteArrayOutputStream()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("No space left on device");
        }
        assertThat(content(store)).isEqualTo(before);
        StateStore copy = keep(Images.copy(store, options(LocalFiles.system(), 1 << 20)));
        assertThat(content(copy)).isEqualTo(before);
    }

    @Test
    void everyDamagedByteOfTheIndexIsNoticed() throws IOException {
        StateStore store = open(LocalFiles.system());
        Churn.change(store, 1);
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        try (StoreSnapshot snapshot = store.snapshot();
                StoreImage image = snapshot.image(written)) {
            byte[] index = written.toByteArray();
            for (int at = 0; at < index.length; at++) {
                byte[] damaged = index.clone();
                damaged[at] ^= 1;
                assertRefused(damaged, image, "byte " + at);
            }
            for (int length = 0; length < index.length; length++) {
                assertRefused(Arrays.copyOf(index, length), image, length + " bytes");
            }
        }
    }

    private void assertRefused(byte[] index, StoreImage image, String what) throws IOException {
        StoreOptions options = options(LocalFiles.system(), 4 << 20);
        assertThatThrownBy(
                        () ->
                                StateStores.open(
                                        options,
                                        new ByteArrayInputStream(index),
                                        Images.linked(image, options)))
                .as(what)
                .isInstanceOf(StateStoreException.class);
        assertThat(options.budget().usedBytes()).as("memory after %s", what).isZero();
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).as("directories after %s", what).hasSize(1);
        }
    }

    @Test
    void aDamagedPageIsNoticedWhenItIsRead() throws IOException {
        StateStore store = open(LocalFiles.system());
        Churn.change(store, 1);
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        try (StoreSnapshot snapshot = store.snapshot();
                StoreImage image = snapshot.image(index)) {
            for (StoreImage.File file : image.files()) {
                byte[] bytes = Files.readAllBytes(file.path());
                bytes[bytes.length - 100] ^= 1;
                Files.write(file.path(), bytes);
            }
            StoreOptions options = options(LocalFiles.system(), 4 << 20);
            StateStore copy =
                    keep(
                            StateStores.open(
                                    options,
                                    new ByteArrayInputStream(index.toByteArray()),
                                    Images.linked(image, options)));
            assertThatThrownBy(() -> content(copy))
                    .isInstanceOf(StateStoreException.class)
                    .hasMessageContaining("checksum mismatch");
        }
    }
}
