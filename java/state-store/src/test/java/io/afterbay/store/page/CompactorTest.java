package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreStats;
import io.afterbay.store.io.ArrivingFile;
import io.afterbay.store.io.LocalFiles;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompactorTest {
    private static final int PAGES = 16_000;
    private static final int PAGE_BYTES = 1 << 10;
    private static final double AMPLIFICATION = 1.5;

    /** Beside the permitted garbage: open segments, and those that are being compacted. */
    private static final long SLACK_BYTES = 5 << 20;

    @TempDir private Path directory;
    private final Random random = new Random(1);
    private final Deque<Runnable> putOff = new ArrayDeque<>();
    private final int[] ids = new int[PAGES];
    private Executor background = Runnable::run;
    private Executor compaction = Runnable::run;
    private PageStore pages;

    private void open(boolean putsOff) {
        open(putsOff ? putOff::add : Runnable::run);
    }

    private void open(Executor compaction) {
        pages = new PageStore(options("store", compaction));
        for (int i = 0; i < PAGES; i++) {
            pages.safepoint();
            ids[i] = pages.allocate(PAGE_BYTES, PageStore.TREE_STREAM, 0);
            Memory.putInt(pages.address(ids[i]), i);
        }
    }

    private StoreOptions options(String name, Executor compaction) {
        return new StoreOptions(
                name,
                directory.resolve(name),
                LocalFiles.system(),
                new MemoryBudget(1 << 20),
                background,
                compaction,
                Runnable::run,
                0,
                127,
                AMPLIFICATION,
                false);
    }

    @AfterEach
    void close() {
        pages.close();
    }

    /** Leaves something in each segment. */
    private void changeThreeOfFour() {
        for (int i = 0; i < PAGES; i++) {
            pages.safepoint();
            if (i % 4 > 0) {
                pages.modify(ids[i]);
            }
        }
        pages.safepoint();
    }

    private void changeAtRandom(int changes) {
        changeAtRandom(ids, changes);
    }

    private void changeAtRandom(int[] of, int changes) {
        for (int n = 0; n < changes; n++) {
            pages.safepoint();
            pages.modify(of[random.nextInt(of.length)]);
        }
        pages.safepoint();
    }

    private void assertWithinTheBound() {
        StoreStats stats = pages.stats();
        assertThat(stats.diskTotalBytes())
                .isLessThan((long) (AMPLIFICATION * stats.diskLiveBytes()) + SLACK_BYTES);
    }

    @Test
    void keepsTheFilesWithinTheBound() {
        open(false);
        for (int round = 0; round < 6; round++) {
            changeAtRandom(PAGES / 2);
            assertWithinTheBound();
        }
        assertThat(pages.stats().relocatedBytes()).isPositive();
    }

    /** What a snapshot holds stays on disk, so moving pages out of it would only add to it. */
    @Test
    void movesNothingOutOfFilesThatASnapshotHolds() {
        open(false);
        PageSnapshot snapshot = pages.freeze();
        changeThreeOfFour();
        assertThat(pages.stats().relocatedBytes()).isZero();
        for (int i = 0; i < PAGES; i += 100) {
            long page = snapshot.address(ids[i], PageSource.CHAIN_SLOT);
            assertThat(Memory.getInt(page)).isEqualTo(i);
        }
        snapshot.close();
        changeAtRandom(PAGES);
        assertThat(pages.stats().relocatedBytes()).isPositive();
        assertWithinTheBound();
    }

    /** All of them would have to be fetched, and at once. */
    @Test
    void movesNothingOutOfFilesThatHaveNotArrived() throws IOException {
        open(false);
        List<ArrivingFile> arriving = replaceByCopy();
        freeAllButOneOf(4);
        pages.safepoint();
        pages.freeze().close(); // makes room, as when memory is short
        assertThat(pages.stats().relocatedBytes()).isZero();
        assertThat(arriving).isNotEmpty().allMatch(file -> file.nextMissing(0) == 0);
        fetch(arriving);
        pages.freeze().close();
        assertThat(pages.stats().relocatedBytes()).isPositive();
        assertWithinTheBound();
        for (int i = 0; i < PAGES; i += 4) {
            pages.safepoint();
            assertThat(Memory.getInt(pages.address(ids[i]))).isEqualTo(i);
        }
    }

    private void freeAllButOneOf(int every) {
        for (int i = 0; i < PAGES; i++) {
            if (i % every > 0) {
                pages.free(ids[i]);
            }
        }
    }

    private static void fetch(List<ArrivingFile> arriving) throws IOException {
        ByteBuffer byteOfEach = ByteBuffer.allocate(1);
        for (ArrivingFile file : arriving) {
            for (long at = file.nextMissing(0); at >= 0; at = file.nextMissing(at)) {
                file.read(byteOfEach.clear(), at);
            }
        }
    }

    private List<ArrivingFile> replaceByCopy() throws IOException {
        List<ArrivingFile> arriving = new ArrayList<>();
        PageStore first = pages;
        pages = copy(first, arriving);
        first.close();
        return arriving;
    }

    /** A store with the pages of another one, in files that arrive when they are read. */
    private PageStore copy(PageStore first, List<ArrivingFile> arriving) throws IOException {
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        StoreOptions options = options("copy", compaction);
        PageStore copy = new PageStore(options);
        try (PageSnapshot snapshot = first.freeze();
                PageImage image = PageImage.write(snapshot, new DataOutputStream(index))) {
            Map<Integer, ArrivingFile> files = new HashMap<>();
            for (StoreImage.File file : image.files()) {
                byte[] content = Files.readAllBytes(file.path());
                files.put(
                        file.number(),
                        new ArrivingFile(
                                LocalFiles.system(),
                                options.directory().resolve(file.path().getFileName()),
                                file.bytes(),
                                (target, position) ->
                                        target.put(content, (int) position, target.remaining())));
            }
            arriving.addAll(files.values());
            copy.load(
                    new DataInputStream(new ByteArrayInputStream(index.toByteArray())),
                    true,
                    files::get);
        }
        return copy;
    }

    /** A compaction that is put off and put off runs as urgent at twice the permitted garbage. */
    @Test
    void doesNotWaitWhenThereIsTwiceThePermittedGarbage() {
        open(true);
        while (putOff.isEmpty()) {
            changeAtRandom(100);
        }
        assertThat(pages.stats().relocatedBytes()).isZero();
        changeAtRandom(3 * PAGES);
        StoreStats stats = pages.stats();
        assertThat(stats.diskTotalBytes() - stats.diskLiveBytes())
                .isLessThan(
                        (long) (2 * (AMPLIFICATION - 1) * stats.diskLiveBytes()) + 2 * SLACK_BYTES);
        assertThat(stats.relocatedBytes()).isPositive();
        putOff.forEach(Runnable::run);
        assertWithinTheBound();
    }

    // ---------------------------------------------------------------- the bound

    private static final long SEGMENT_BYTES = 1 << 20;

    /** What docs/flink.md says of a store of which no snapshot holds anything. */
    private static long boundBytes(long liveBytes) {
        return (long) ((1 + 4 * (AMPLIFICATION - 1)) * liveBytes) + 12 * SEGMENT_BYTES;
    }

    private boolean isWithinTheHardBound() {
        StoreStats stats = pages.stats();
        return stats.diskTotalBytes() <= boundBytes(stats.diskLiveBytes());
    }

    private long directoryBytes() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("store"))) {
            return files.mapToLong(file -> file.toFile().length()).sum();
        }
    }

    private static void never(Runnable task) {}

    /** Everything but the changes is up to the thread that makes them. */
    private void openWithoutBackground() {
        background = CompactorTest::never;
        compaction = CompactorTest::never;
        open(compaction);
    }

    @Test
    void whoeverAppendsKeepsTheFilesWithinTheHardBound() throws IOException {
        openWithoutBackground();
        for (int round = 0; round < 100; round++) {
            changeAtRandom(PAGES / 10);
            assertThat(isWithinTheHardBound()).isTrue();
            assertThat(directoryBytes()).isLessThan(boundBytes(pages.stats().diskLiveBytes()));
        }
        assertThat(pages.stats().compactionStalls()).isPositive();
        assertThat(pages.stats().compactionStallNanos()).isPositive();
        assertThat(pages.stats().relocatedBytes()).isPositive();
        assertPagesAreRight();
    }

    private void assertPagesAreRight() {
        for (int i = 0; i < PAGES; i++) {
            pages.safepoint();
            assertThat(Memory.getInt(pages.address(ids[i]))).isEqualTo(i);
        }
    }

    /** So the test before this one would fail without it. */
    @Test
    void withoutTheHardBoundNothingBoundsTheFiles() {
        openWithoutBackground();
        pages.compactor.debt.boundFactor = 1_000_000;
        changeAtRandom(10 * PAGES);
        assertThat(isWithinTheHardBound()).isFalse();
        assertThat(pages.stats().compactionStalls()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nobodyWaitsBelowTheHardBound(boolean putsOff) {
        open(putsOff);
        changeAtRandom(5 * PAGES);
        assertThat(pages.stats().relocatedBytes()).isPositive();
        assertThat(pages.stats().compactionStalls()).isZero();
    }

    /** A store that hardly spills has garbage of a multiple of what is live. */
    @Test
    void nobodyWaitsForSmallStores() {
        background = CompactorTest::never;
        pages = new PageStore(options("store", CompactorTest::never));
        changeAtRandom(allocateOthers(1500), 5000);
        StoreStats stats = pages.stats();
        assertThat(stats.diskTotalBytes()).isGreaterThan(3 * stats.diskLiveBytes());
        assertThat(stats.compactionStalls()).isZero();
    }

    /** It could free nothing. When the images end, the background has a head start. */
    @Test
    void nobodyWaitsForWhatImagesHold() throws IOException {
        openWithoutBackground();
        List<PageImage> images = new ArrayList<>();
        for (int round = 0; round < 5; round++) {
            changeAtRandom(PAGES);
            images.add(writeImage());
        }
        assertThat(isWithinTheHardBound()).as("%s", pages.stats()).isFalse();
        assertThat(pages.stats().compactionStalls()).isZero();
        images.forEach(PageImage::close);
        changeAtRandom(500);
        assertThat(pages.stats().compactionStalls()).isZero();
        long most = pages.stats().diskTotalBytes() + 4 * SEGMENT_BYTES;
        for (int round = 0; round < 40; round++) {
            changeAtRandom(PAGES / 10);
            assertThat(pages.stats().diskTotalBytes()).isLessThan(most);
        }
        assertThat(pages.stats().compactionStalls()).isPositive();
        assertPagesAreRight();
    }

    /**
     * What images copy stays, or is deleted when they end: both are what the owner has to make up
     * for.
     */
    @ParameterizedTest
    @ValueSource(ints = {PAGES / 40, PAGES / 10})
    void imagesAreNoWayAroundTheHardBound(int changes) throws IOException {
        openWithoutBackground();
        for (int round = 0; round < 200; round++) {
            changeAtRandom(changes);
            writeImage().close();
            assertThat(isWithinTheHardBound()).as("round %d: %s", round, pages.stats()).isTrue();
        }
        assertThat(pages.stats().compactionStalls()).isPositive();
        assertPagesAreRight();
    }

    private PageImage writeImage() throws IOException {
        try (PageSnapshot snapshot = pages.freeze()) {
            return PageImage.write(snapshot, new DataOutputStream(OutputStream.nullOutputStream()));
        }
    }

    /** That other threads compact too, and write images, is no reason to grow. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void staysWithinTheHardBoundBesideOtherThreads(boolean putsOff) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        ExecutorService images = Executors.newSingleThreadExecutor();
        background = threads;
        open(putsOff ? putOff::add : threads);
        Future<?> image = images.submit(() -> {});
        for (int round = 0; round < 120; round++) {
            changeAtRandom(PAGES / 20);
            assertThat(bytesBesideHeld()).isLessThan(boundBytes(pages.stats().diskLiveBytes()));
            if (image.isDone()) {
                image.get();
                PageSnapshot snapshot = pages.freeze();
                image = images.submit(() -> writeAndClose(snapshot));
            }
        }
        image.get();
        assertThat(pages.stats().relocatedBytes()).isPositive();
        assertPagesAreRight();
        pages.close();
        images.shutdown();
        threads.shutdown();
    }

    private static Object writeAndClose(PageSnapshot snapshot) throws IOException {
        try (snapshot) {
            PageImage.write(snapshot, new DataOutputStream(OutputStream.nullOutputStream()))
                    .close();
        }
        return snapshot;
    }

    /** What is live, and what could be reclaimed at once. */
    private long bytesBesideHeld() {
        pages.lock.lock();
        try {
            return pages.log.liveBytes() + pages.log.reclaimableBytes() + pages.log.deadBytes();
        } finally {
            pages.lock.unlock();
        }
    }

    @Test
    void nobodyWaitsForFilesThatHaveNotArrived() throws IOException {
        openWithoutBackground();
        List<ArrivingFile> arriving = replaceByCopy();
        freeAllButOneOf(64);
        int[] others = allocateOthers(1000);
        changeAtRandom(others, 6000);
        StoreStats stats = pages.stats();
        assertThat(stats.diskTotalBytes()).isGreaterThan(boundBytes(stats.diskLiveBytes()));
        assertThat(stats.compactionStalls()).isZero();
        fetch(arriving);
        changeAtRandom(others, 6000);
        assertThat(pages.stats().compactionStalls()).isPositive();
    }

    private int[] allocateOthers(int count) {
        int[] others = new int[count];
        for (int i = 0; i < count; i++) {
            pages.safepoint();
            others[i] = pages.allocate(PAGE_BYTES, PageStore.TREE_STREAM, 0);
        }
        return others;
    }
}
