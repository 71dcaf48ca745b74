package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreStats;
import io.afterbay.store.io.LocalFiles;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
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
        pages =
                new PageStore(
                        new StoreOptions(
                                "compacted",
                                directory.resolve("store"),
                                LocalFiles.system(),
                                new MemoryBudget(1 << 20),
                                Runnable::run,
                                putsOff ? putOff::add : Runnable::run,
                                Runnable::run,
                                0,
                                127,
                                AMPLIFICATION,
                                false));
        for (int i = 0; i < PAGES; i++) {
            pages.safepoint();
            ids[i] = pages.allocate(PAGE_BYTES, PageStore.TREE_STREAM);
            Memory.putInt(pages.address(ids[i]), i);
        }
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
