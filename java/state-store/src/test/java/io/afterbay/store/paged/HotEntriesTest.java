package io.afterbay.store.paged;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.redo.RedoLog;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HotEntriesTest {
    private static final long BUDGET_BYTES = 4 << 20;

    @TempDir Path directory;
    private final MemoryBudget budget = new MemoryBudget(BUDGET_BYTES);
    private PageStore pages;
    private final RedoLog redo = new RedoLog();
    private HotEntries hot;
    private final Home home = new Home();
    private long allocatedBefore;

    /** Keeps what is settled in a map. */
    private static final class Home extends HotHome {
        private final Map<Integer, Integer> settled = new HashMap<>();
        private final Map<Integer, Integer> logged = new HashMap<>();
        private int settlements;
        private int logs;

        @Override
        void log(StateKey key, int flags, int loggedBytes, Slice value) {
            logs++;
            apply(key, flags, value, logged);
        }

        @Override
        void settle(StateKey key, int flags, Slice value) {
            settlements++;
            apply(key, flags, value, settled);
        }

        private static void apply(
                StateKey key, int flags, Slice value, Map<Integer, Integer> target) {
            int number = ByteBuffer.wrap(key.bytes()).getInt();
            if ((flags & HotRecord.ABSENT) == 0) {
                target.put(number, ByteBuffer.wrap(value.array()).getInt());
            } else {
                target.remove(number);
            }
        }
    }

    @BeforeEach
    void open() {
        allocatedBefore = Memory.allocatedBytes();
        pages = new PageStore(options("store", budget));
        hot = new HotEntries(pages, redo, 16);
        hot.register(home);
    }

    private StoreOptions options(String name, MemoryBudget memory) {
        return new StoreOptions(
                name,
                directory.resolve(name),
                LocalFiles.system(),
                memory,
                Runnable::run,
                Runnable::run,
                Runnable::run,
                0,
                127,
                1.5,
                true);
    }

    @AfterEach
    void closeAndFindLeaks() {
        hot.free();
        pages.close();
        assertThat(Memory.allocatedBytes()).isEqualTo(allocatedBefore);
    }

    private static StateKey key(int number) {
        return new StateKey().setKey(Math.floorMod(number, 128), bytes(number));
    }

    private static byte[] bytes(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    private void put(int number, int value) {
        hot.prepare();
        StateKey key = key(number);
        long record = hot.find(home, key);
        if (record == 0) {
            record = hot.insert(home, key, HotRecord.STORED, 4);
        }
        HotRecord.writeValue(record, bytes(value), 0, 4);
        hot.changed(record, HotRecord.DIRTY | HotRecord.STORED);
    }

    private Integer get(int number) {
        hot.prepare();
        long record = hot.find(home, key(number));
        if (record == 0) {
            return home.settled.get(number);
        }
        Slice value = new Slice();
        HotRecord.readValue(record, value);
        return HotRecord.has(record, HotRecord.ABSENT)
                ? null
                : (Integer) ByteBuffer.wrap(value.array()).getInt();
    }

    private void remove(int number) {
        hot.prepare();
        long record = hot.find(home, key(number));
        if (record == 0) {
            home.settled.remove(number);
            home.logged.remove(number);
        } else {
            hot.makeAbsent(record);
        }
    }

    @Test
    void anEntryIsInTheRingOrAtHome() {
        Map<Integer, Integer> model = new HashMap<>();
        Random random = new Random(7);
        for (int i = 0; i < 400_000; i++) {
            int number = random.nextInt(20_000);
            switch (random.nextInt(4)) {
                case 0, 1 -> {
                    put(number, i);
                    model.put(number, i);
                }
                case 2 -> {
                    remove(number);
                    model.remove(number);
                }
                default -> assertThat(get(number)).isEqualTo(model.get(number));
            }
        }
        assertThat(home.settlements).as("the ring wrapped many times").isGreaterThan(50_000);
        hot.settle();
        assertThat(home.settled.equals(model)).isTrue();
    }

    /**
     * Whatever the size of the ring: as many of the smallest records as it holds, all of them live.
     * An index that is full would be searched for ever.
     */
    @ParameterizedTest
    @ValueSource(doubles = {1, 0.9, 0.75, 0.6, 0.51})
    void theIndexHasRoomForTheSmallestRecords(double part) {
        MemoryBudget smaller = new MemoryBudget((long) (BUDGET_BYTES * part));
        PageStore own = new PageStore(options("smaller", smaller));
        HotEntries small = new HotEntries(own, redo, 2);
        small.register(home);
        home.usualValueBytes = 8;
        for (int i = 0; i < 100_000; i++) {
            small.prepare();
            small.insert(home, key(i), HotRecord.ABSENT, 4);
        }
        assertThat(home.records).isBetween(1000, 99_000);
        for (int i = 99_999; i >= 100_000 - home.records / 4; i--) {
            assertThat(small.find(home, key(i))).isNotZero();
        }
        small.free();
        own.close();
    }

    /** Each state finds its own record last; what has left is not found by its memory. */
    @Test
    void whatWasFoundLastIsForgottenWhenItLeaves() {
        put(1, 11);
        long record = hot.find(home, key(1));
        assertThat(home.latest).isEqualTo(record);
        hot.discard(home, record);
        assertThat(hot.find(home, key(1))).isZero();
        put(2, 22);
        hot.free();
        assertThat(home.latest).isZero();
        assertThat(hot.find(home, key(2))).isZero();
    }

    @Test
    void whatIsUsedAgainStays() {
        for (int i = 0; i < 200_000; i++) {
            put(-1 - i % 10, i);
            put(i, i);
        }
        for (int i = 1; i <= 10; i++) {
            assertThat(home.settled.containsKey(-i)).isFalse();
        }
    }

    @Test
    void whatLivesAndDiesHereNeverGoesHome() {
        hot.prepare();
        for (int i = 0; i < 100_000; i++) {
            hot.prepare();
            long record = hot.insert(home, key(i), HotRecord.ABSENT, 4);
            hot.changed(record, HotRecord.DIRTY);
            hot.makeAbsent(record);
        }
        hot.settle();
        assertThat(home.settlements).isZero();
    }

    @Test
    void theLogHearsOfEveryChange() {
        redo.start((chunk, length) -> {});
        Map<Integer, Integer> model = new HashMap<>();
        Random random = new Random(8);
        for (int i = 0; i < 400_000; i++) {
            int number = random.nextInt(20_000);
            if (random.nextInt(4) == 0) {
                remove(number);
                model.remove(number);
            } else {
                put(number, i);
                model.put(number, i);
            }
            if (random.nextInt(50_000) == 0) {
                hot.logChanges();
                assertThat(home.logged.equals(model)).isTrue();
            }
            if (random.nextInt(50_000) == 0) {
                hot.expectSnapshot(true);
            }
            if (random.nextInt(100_000) == 0) {
                hot.settle();
                assertThat(home.settled.equals(model)).isTrue();
            }
        }
        hot.logChanges();
        assertThat(home.logged.equals(model)).isTrue();
    }

    @Test
    void aChangeIsLoggedOnceThoughItIsMadeAgainAndAgain() {
        redo.start((chunk, length) -> {});
        for (int i = 0; i < 100_000; i++) {
            put(i % 1000, i);
        }
        hot.logChanges();
        hot.settle();
        assertThat(home.logs).isEqualTo(1000);
        assertThat(home.settlements).isEqualTo(1000);
    }

    @Test
    void whatIsLoggedForACheckpointGoesHomeLater() {
        redo.start((chunk, length) -> {});
        put(0, 0);
        hot.expectSnapshot(true);
        for (int i = 0; i < 30; i++) {
            put(i, i);
        }
        hot.logChanges();
        put(7, 77);
        hot.logChanges();
        assertThat(home.logs).isEqualTo(31);
        assertThat(home.logged).hasSize(30).containsEntry(7, 77);
        assertThat(home.settlements).as("a checkpoint does not wait for that").isZero();
        for (int i = 30; i < 1000; i++) {
            put(i, i);
        }
        assertThat(home.settlements).isGreaterThan(900);
        assertThat(home.settled).containsEntry(7, 77);
    }

    @Test
    void littleIsLeftForAnExpectedSnapshot() {
        redo.start((chunk, length) -> {});
        for (int i = 0; i < 3_000; i++) {
            put(i, i);
        }
        hot.logChanges();
        hot.expectSnapshot(true);
        for (int i = 0; i < 1_000; i++) {
            put(i % 30, i);
        }
        assertThat(hot.isPrepared()).isFalse();
        for (int i = 0; i < 4_000; i++) {
            put(i % 30, i);
        }
        assertThat(hot.isPrepared()).isTrue();
        int before = home.settlements;
        assertThat(before).isGreaterThan(2_900);
        hot.settle();
        assertThat(home.settlements - before).isEqualTo(30);
    }

    @Test
    void aScannedStateHasNothingHereAndTakesNothingIn() {
        put(1, 11);
        hot.evacuate(home);
        assertThat(home.records).isZero();
        assertThat(home.settled).containsEntry(1, 11);
        assertThat(hot.admits(key(2), 4)).isFalse();
    }

    @Test
    void readsThatFindNothingLetItRest() {
        hot.prepare();
        for (int i = 0; i < 10_000; i++) {
            hot.prepare();
            hot.findForRead(home, key(i));
        }
        assertThat(hot.admits(key(1), 4)).isFalse();
    }

    @Test
    void memoryIsGivenBackWhenTheShareShrinks() {
        put(1, 11);
        long before = pages.stats().memoryBytes();
        Runnable other = () -> {};
        for (int i = 0; i < 3; i++) {
            budget.join(other);
        }
        hot.fitShare();
        assertThat(pages.stats().memoryBytes()).isLessThan(before);
        assertThat(home.settled).containsEntry(1, 11);
        assertThat(get(1)).isEqualTo(11);
    }
}
