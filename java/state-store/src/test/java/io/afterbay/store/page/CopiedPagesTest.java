package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.StoreStats;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.page.ImagedPages.Image;
import io.afterbay.testing.LiveTree;
import io.afterbay.testing.TestForm;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What an image has copied is not written again. */
class CopiedPagesTest {
    private static final int PAGES = 4000;
    private static final int PAGE_BYTES = 1 << 10;

    @TempDir private Path directory;
    private ImagedPages store;
    private long allocatedBefore = Memory.allocatedBytes();

    private void fill(long budgetBytes) {
        fill(budgetBytes, PAGES);
    }

    private void fill(long budgetBytes, int count) {
        store = new ImagedPages(directory, budgetBytes, false, 1);
        for (int i = 0; i < count; i++) {
            store.add(PAGE_BYTES); // with ids from 1 on
        }
    }

    @AfterEach
    void nothingIsLeft() {
        store.close();
        assertThat(Memory.allocatedBytes()).isEqualTo(allocatedBefore);
        assertThat(directory).isEmptyDirectory();
    }

    private StoreStats stats() {
        return store.pages.stats();
    }

    private void change(int first, int last) {
        for (int pageId = first; pageId <= last; pageId++) {
            store.change(pageId);
        }
    }

    private static long bytes(int pages) {
        return (long) pages * (Block.HEADER_BYTES + PAGE_BYTES);
    }

    @Test
    void theNextImageCopiesOnlyWhatHasChangedSince() throws IOException {
        fill(16 << 20);
        store.image();
        assertThat(stats().copiedBytes()).isEqualTo(bytes(PAGES));
        assertThat(stats().settledBytes()).isEqualTo(bytes(PAGES));
        change(1, 100);
        store.image();
        assertThat(stats().copiedBytes()).isEqualTo(bytes(PAGES + 100));
        for (Image image : store.images()) {
            store.assertRight(image);
        }
        store.assertLiveBytesAreRight();
    }

    @Test
    void leavesMemoryWithoutBeingWrittenAgain() throws IOException {
        fill(8 << 20);
        Image image = store.image();
        store.close(image);
        StoreStats before = stats();
        assertThat(before.evictions()).isZero();
        for (int i = 0; i < 3 * PAGES; i++) {
            store.add(PAGE_BYTES);
        }
        long left = stats().evictions() - before.evictions();
        assertThat(left).isGreaterThan(2 * PAGES);
        assertThat(stats().writtenBytes() - before.writtenBytes())
                .isLessThanOrEqualTo(bytes((int) left - PAGES));
        store.assertAllRight();
        store.assertLiveBytesAreRight();
    }

    @Test
    void whatHasChangedSinceTheFreezeHasNoPlaceYet() throws IOException {
        fill(16 << 20);
        int[] at = {0};
        store.image(
                () -> {
                    if (at[0]++ == 0) {
                        change(1, 1000); // before the first copies count
                    }
                });
        assertThat(stats().copiedBytes()).isEqualTo(bytes(PAGES));
        assertThat(stats().settledBytes()).isEqualTo(bytes(PAGES - 1000));
        store.assertRight(store.image());
        assertThat(stats().copiedBytes()).isEqualTo(bytes(PAGES + 1000));
        store.assertAllRight();
    }

    /** As when it goes to a storage that is full. */
    @Test
    void anImageWhoseIndexCannotBeWrittenLeavesSegmentsLikeAllOthers() {
        int few = 100;
        fill(16 << 20, few);
        try (PageSnapshot snapshot = store.pages.freeze()) {
            assertThatThrownBy(() -> PageImage.write(snapshot, new DataOutputStream(full())))
                    .isInstanceOf(IOException.class);
        }
        store.assertLiveBytesAreRight();
        assertThat(store.pages.log.shortSegments()).isEqualTo(1);
        change(1, few);
        store.assertLiveBytesAreRight();
        assertThat(store.pages.log.shortSegments()).isZero();
    }

    private static OutputStream full() {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("No space left on device");
            }
        };
    }

    /** Of a page that is in the image nothing has to be kept for the snapshot. */
    @Test
    void nothingIsPreservedOfWhatTheImageHas() throws IOException {
        fill(16 << 20);
        boolean[] done = {false};
        long[] grown = {0};
        store.image(
                () -> {
                    if (!done[0] && stats().copiedBytes() >= bytes(3000)) {
                        done[0] = true;
                        long before = stats().memoryBytes();
                        change(1, 2900);
                        grown[0] = stats().memoryBytes() - before;
                        change(3100, 3200);
                    }
                });
        assertThat(grown[0]).isZero();
        assertThat(stats().settledBytes()).isEqualTo(bytes(PAGES - 101));
        store.assertRight(store.images().get(0));
        store.assertAllRight();
    }

    @Test
    void garbageInTheSegmentsOfImagesIsCompacted() throws IOException {
        fill(2 << 20);
        Random random = new Random(2);
        for (int round = 0; round < TestForm.STORE_IMAGES; round++) {
            Image image = store.image();
            for (int i = 0; i < PAGES / 4; i++) {
                store.change(1 + random.nextInt(PAGES));
            }
            store.close(image);
            store.pages.freeze().close(); // makes room, as when memory is short
            store.assertLiveBytesAreRight();
            assertThat(stats().diskTotalBytes())
                    .isLessThan(3 * stats().diskLiveBytes() + (5 << 20));
        }
        assertThat(stats().relocatedBytes()).isPositive();
        assertThat(stats().settledBytes()).isPositive();
        store.assertAllRight();
    }

    /** Each is live as a whole, so that no garbage ever makes them go. */
    @Test
    void theShortSegmentsOfManyImagesArePutTogether() throws IOException {
        fill(16 << 20);
        store.close(store.image());
        int changed = PAGES / 80;
        for (int round = 0; round < 80; round++) {
            change(1 + round * changed, (round + 1) * changed);
            store.close(store.image());
            store.pages.freeze().close(); // makes room, as when memory is short
        }
        assertThat(segmentFiles()).isBetween(20L, Compactor.SHORT_SEGMENTS_MAX + 8L);
        store.assertAllRight();
        store.assertLiveBytesAreRight();
    }

    private long segmentFiles() throws IOException {
        return LiveTree.files(directory).stream()
                .filter(file -> file.toString().endsWith(".log"))
                .count();
    }

    /** A page gets its place from the image while its eviction waits for a buffer. */
    @Test
    void aPageHasOnePlaceIfItsEvictionAndTheImageWriteItTogether() {
        AtomicReference<@Nullable Runnable> atNextWrite = new AtomicReference<>();
        store = new ImagedPages(directory, interrupted(atNextWrite), task -> {}, 1 << 20, false, 1);
        for (int i = 0; i < 700; i++) {
            store.add(PAGE_BYTES);
        }
        for (int round = 0; round < 20; round++) {
            change(1, 700);
            PageSnapshot snapshot = store.pages.freeze();
            Map<Integer, Integer> frozen = store.numbers();
            // The owner writes a buffer itself, since nobody else does, and lets go of the lock.
            atNextWrite.set(() -> inAThread(() -> store.image(snapshot, frozen, () -> {})));
            while (atNextWrite.get() != null) {
                store.add(PAGE_BYTES);
            }
            snapshot.close();
            store.assertLiveBytesAreRight();
            store.images().forEach(store::close);
        }
        assertThat(stats().settledBytes()).isPositive();
        store.assertAllRight();
    }

    /** Runs an action once, behind the next write. */
    private static LocalFiles interrupted(AtomicReference<@Nullable Runnable> atNextWrite) {
        return Proxies.of(
                LocalFiles.class,
                LocalFiles.system(),
                created ->
                        created instanceof LocalFile file
                                ? Proxies.of(
                                        LocalFile.class, file, written -> run(atNextWrite, written))
                                : created);
    }

    private static Object run(AtomicReference<@Nullable Runnable> atNextWrite, Object written) {
        Runnable action = written instanceof Integer ? atNextWrite.getAndSet(null) : null;
        if (action != null) {
            action.run();
        }
        return written;
    }

    private static void inAThread(Callable<?> action) {
        CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return action.call();
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        })
                .join();
    }

    /** As the one below, with threads. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void imagesAreWrittenWhileTheOwnerWorks(long seed) throws Exception {
        ExecutorService background = Executors.newFixedThreadPool(2);
        try {
            store =
                    new ImagedPages(
                            directory, LocalFiles.system(), background, 2 << 20, true, seed);
            for (int i = 0; i < PAGES; i++) {
                store.add(PAGE_BYTES);
            }
            for (int round = 0; round < TestForm.STORE_IMAGES || isAllSettled(); round++) {
                PageSnapshot snapshot = store.pages.freeze();
                Map<Integer, Integer> frozen = store.numbers();
                Future<Image> image =
                        background.submit(() -> store.image(snapshot, frozen, () -> {}));
                while (!image.isDone()) {
                    store.changeAtRandom();
                }
                snapshot.close();
                store.assertRight(image.get());
                store.close(image.get());
            }
            store.assertAllRight();
        } finally {
            store.close();
            background.shutdown();
        }
    }

    /** As if nothing had changed meanwhile: the owner had no processor. */
    private boolean isAllSettled() {
        return stats().settledBytes() == stats().copiedBytes();
    }

    /** Changes between any two pages of an image; each image is opened long after. */
    @ParameterizedTest
    @CsvSource({"1, 1, true", "2, 1, false", "3, 2, true", "4, 2, false", "5, 8, true"})
    void imagesAndTheStoreAreRightWhateverHappensMeanwhile(
            long seed, int budgetMib, boolean compression) throws IOException {
        Random random = new Random(seed);
        store = new ImagedPages(directory, (long) budgetMib << 20, compression, seed);
        for (int i = 0; i < 1000; i++) {
            store.add(PAGE_BYTES);
        }
        for (int round = 0; round < TestForm.STORE_IMAGES; round++) {
            for (int i = random.nextInt(500); i > 0; i--) {
                store.changeAtRandom();
            }
            int pace = 1 << random.nextInt(8);
            store.image(
                    () -> {
                        if (random.nextInt(pace) == 0) {
                            store.changeAtRandom();
                        }
                    });
            store.assertLiveBytesAreRight();
            while (store.images().size() > random.nextInt(4)) {
                Image image = store.images().get(random.nextInt(store.images().size()));
                store.assertRight(image);
                store.close(image);
                store.assertLiveBytesAreRight();
            }
        }
        for (Image image : store.images()) {
            store.assertRight(image);
        }
        store.assertAllRight();
        StoreStats stats = stats();
        assertThat(stats.settledBytes()).isPositive().isLessThan(stats.copiedBytes());
        if (budgetMib == 1) {
            assertThat(stats.relocatedBytes()).isPositive();
        }
    }
}
