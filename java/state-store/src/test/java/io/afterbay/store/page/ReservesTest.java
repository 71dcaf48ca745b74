package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReservesTest {
    private static final int CHARGE_BYTES = 64 << 10;
    private static final long SPARE_BYTES = 512 << 10;

    @TempDir private Path directory;
    private final MemoryBudget budget = new MemoryBudget(4 << 20);
    private PageStore pages;
    private Reserves reserves;

    private void open() {
        pages =
                new PageStore(
                        new StoreOptions(
                                "reserves",
                                directory.resolve("store"),
                                LocalFiles.system(),
                                budget,
                                Runnable::run,
                                Runnable::run,
                                Runnable::run,
                                0,
                                127,
                                1.5,
                                true));
        pages.safepoint();
        reserves = pages.reserves();
    }

    @AfterEach
    void close() {
        pages.close();
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    void anOperationThatFindsNoRoomHasTheSpare() {
        open();
        assertThat(reserves.keepSpare(SPARE_BYTES)).isTrue();
        long ofOthers = budget.totalBytes() - budget.usedBytes();
        assertThat(budget.tryReserve(ofOthers)).isTrue();
        charge(CHARGE_BYTES);
        pages.safepoint(); // else it waits for 30 s, for stores that are not there
        long used = pages.stats().memoryBytes();
        reserves.dropSpare();
        assertThat(pages.stats().memoryBytes()).as("it is given back once").isEqualTo(used);
        budget.release(ofOthers);
    }

    /** Others ask again and again, and take what they get. */
    @Test
    void theSpareIsKeptFromOthersUntilItIsDropped() {
        open();
        long taken = 2 << 20;
        long address = reserves.take(taken, 1);
        assertThat(reserves.keepSpare(SPARE_BYTES)).isTrue();
        for (int i = 0; i < 3; i++) {
            budget.join(() -> {});
        }
        assertThat(taken).as("more than the share").isGreaterThan(budget.shareBytes());
        long ofOthers = 0;
        for (long used = 0; used < SPARE_BYTES; used += CHARGE_BYTES) {
            ofOthers += askAndTake();
            charge(CHARGE_BYTES);
            pages.safepoint(); // else it waits for 30 s, for stores that are not there
        }
        reserves.giveBack(address, taken);
        reserves.dropSpare();
        ofOthers += askAndTake();
        assertThat(budget.usedBytes() - ofOthers)
                .as("granted, with nothing to keep")
                .isEqualTo(budget.shareBytes());
        budget.release(ofOthers);
    }

    private long askAndTake() {
        budget.raisePressure(() -> {});
        pages.safepoint();
        long left = budget.totalBytes() - budget.usedBytes();
        assertThat(budget.tryReserve(left)).isTrue();
        return left;
    }

    /** What no eviction gives back. */
    private void charge(long bytes) {
        pages.lock.lock();
        try {
            pages.chargeReader(bytes);
        } finally {
            pages.lock.unlock();
        }
    }

    @Test
    void aSpareIsOfTheBudgetAndMayBeRefused() {
        open();
        long used = pages.stats().memoryBytes();
        assertThat(reserves.keepSpare(budget.totalBytes())).isFalse();
        assertThat(pages.stats().memoryBytes()).isEqualTo(used);
        assertThat(reserves.keepSpare(SPARE_BYTES)).isTrue();
        assertThat(pages.stats().memoryBytes()).isEqualTo(used + SPARE_BYTES);
        reserves.dropSpare();
        assertThat(pages.stats().memoryBytes()).isEqualTo(used);
    }

    @Test
    void whatIsMoreThanItsPartOfTheShareIsRefused() {
        open();
        long part = budget.totalBytes() / 8;
        assertThat(reserves.isSmall(part)).isTrue();
        assertThat(reserves.isSmall(part + 1)).isFalse();
        assertThat(reserves.take(part + 1)).isZero();
        long address = reserves.take(part);
        assertThat(address).isNotZero();
        reserves.giveBack(address, part);
    }
}
