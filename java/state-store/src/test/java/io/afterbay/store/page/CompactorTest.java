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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    private PageStore pages;

    private void open(boolean putsOff) {
        pages = new PageStore(options("store", putsOff));
        for (int i = 0; i < PAGES; i++) {
            pages.safepoint();
            ids[i] = pages.allocate(PAGE_BYTES, PageStore.TREE_STREAM);
            Memory.putInt(pages.address(ids[i]), i);
        }
    }

    private StoreOptions options(String name, boolean putsOff) {
        return new StoreOptions(
                name,
                directory.resolve(name),
                LocalFiles.system(),
                new MemoryBudget(1 << 20),
                Runnable::run,
                putsOff ? putOff::add : Runnable::run,
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
        for (int n = 0; n < changes; n++) {
            pages.safepoint();
            pages.modify(ids[random.nextInt(PAGES)]);
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
        List<ArrivingFile> arriving = new ArrayList<>();
        PageStore first = pages;
        pages = copy(first, arriving);
        first.close();
        for (int i = 0; i < PAGES; i++) {
            if (i % 4 > 0) {
                pages.free(ids[i]);
            }
        }
        pages.safepoint();
        pages.freeze().close(); // makes room, as when memory is short
        assertThat(pages.stats().relocatedBytes()).isZero();
        assertThat(arriving).isNotEmpty().allMatch(file -> file.nextMissing(0) == 0);
        ByteBuffer byteOfEach = ByteBuffer.allocate(1);
        for (ArrivingFile file : arriving) {
            for (long at = file.nextMissing(0); at >= 0; at = file.nextMissing(at)) {
                file.read(byteOfEach.clear(), at);
            }
        }
        pages.freeze().close();
        assertThat(pages.stats().relocatedBytes()).isPositive();
        assertWithinTheBound();
        for (int i = 0; i < PAGES; i += 4) {
            pages.safepoint();
            assertThat(Memory.getInt(pages.address(ids[i]))).isEqualTo(i);
        }
    }

    /** A store with the pages of another one, in files that arrive when they are read. */
    private PageStore copy(PageStore first, List<ArrivingFile> arriving) throws IOException {
        ByteArrayOutputStream index = new ByteArrayOutputStream();
        StoreOptions options = options("copy", false);
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
                    new DataInputStream(new ByteArrayInputStream(index.toByteArray())), files::get);
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
}
