package io.afterbay.store.paged;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateKind;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.Trigger;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.redo.RedoLog;
import io.afterbay.store.tree.Chains;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both tiers of triggers together, with a near one of a few triggers. */
class PagedTriggersTest {
    private static final int NEAR_BYTES = 2000;
    private static final int KEY_GROUPS = 4;

    /** In the order of firing: timestamp, key group, hash, key. */
    private record At(long timestamp, int keyGroup, long hash, int number)
            implements Comparable<At> {
        private static final Comparator<At> FIRING =
                Comparator.comparingLong(At::timestamp)
                        .thenComparingInt(At::keyGroup)
                        .thenComparing(At::hash, Long::compareUnsigned)
                        .thenComparingInt(At::number);

        @Override
        public int compareTo(At other) {
            return FIRING.compare(this, other);
        }
    }

    @TempDir Path directory;
    private final ExecutorService background = Executors.newSingleThreadExecutor();
    private final MemoryBudget budget = new MemoryBudget(2 << 20);
    private final long allocatedBefore = Memory.allocatedBytes();
    private final TreeSet<At> model = new TreeSet<>();
    private final StateKey key = new StateKey();
    private final Trigger trigger = new Trigger();
    private PageStore pages;
    private PagedTriggers triggers;

    @BeforeEach
    void open() {
        StoreOptions options =
                new StoreOptions(
                        "store",
                        directory.resolve("store"),
                        LocalFiles.system(),
                        budget,
                        background,
                        background,
                        Runnable::run,
                        0,
                        KEY_GROUPS - 1,
                        StoreOptions.DEFAULT_MAX_SPACE_AMPLIFICATION,
                        true);
        pages = new PageStore(options);
        triggers =
                new PagedTriggers(
                        pages,
                        new Chains(pages),
                        options,
                        new RedoLog().state("triggers", StateKind.TRIGGERS),
                        new NearMemory(pages, NEAR_BYTES));
    }

    @AfterEach
    void close() {
        triggers.close();
        pages.close();
        background.shutdown();
        assertThat(Memory.allocatedBytes()).as("memory after close").isEqualTo(allocatedBefore);
        assertThat(budget.usedBytes()).isZero();
    }

    /**
     * From a few triggers, which never leave the near tier, to far more than it takes; with as many
     * snapshots as keep copies there, and with hardly any.
     */
    @ParameterizedTest
    @ValueSource(ints = {10, 50, 1000, 100_000})
    void agreesWithASortedSet(int numbers) {
        for (int settlesPerMille : new int[] {1, 100}) {
            Random random = new Random(numbers + settlesPerMille);
            for (int i = 0; i < 8_000; i++) {
                step(random, numbers, settlesPerMille);
                assertThat(triggers.size()).isEqualTo(model.size());
            }
            checkScan();
        }
        while (!model.isEmpty()) {
            poll();
        }
        assertThat(triggers.poll(trigger)).isFalse();
        assertThat(triggers.size()).isZero();
    }

    private void step(Random random, int numbers, int settlesPerMille) {
        At at = at(random.nextInt(numbers));
        int kind = random.nextInt(1000);
        if (kind < settlesPerMille) {
            settle(kind % 10 == 0);
        } else if (kind < 550) {
            assertThat(triggers.add(at.timestamp(), key)).isEqualTo(model.add(at));
        } else if (kind < 700) {
            assertThat(triggers.remove(at.timestamp(), key)).isEqualTo(model.remove(at));
        } else if (kind < 800) {
            assertThat(triggers.contains(at.timestamp(), key)).isEqualTo(model.contains(at));
        } else {
            poll();
        }
    }

    private void settle(boolean look) {
        if (look) {
            checkScan();
        } else {
            triggers.settle();
        }
    }

    private void poll() {
        assertThat(triggers.peek(trigger)).isEqualTo(!model.isEmpty());
        if (!model.isEmpty()) {
            At first = model.pollFirst();
            assertThat(read(trigger)).isEqualTo(first);
            assertThat(triggers.poll(trigger)).isTrue();
            assertThat(read(trigger)).isEqualTo(first);
        }
    }

    private void checkScan() {
        List<At> found = new ArrayList<>();
        try (EntryCursor cursor = triggers.scan(0, KEY_GROUPS - 1)) {
            while (cursor.next()) {
                found.add(read(cursor.timestamp(), cursor.key()));
            }
        }
        assertThat(found).isSortedAccordingTo(Comparator.comparingInt(At::keyGroup));
        assertThat(new TreeSet<>(found)).isEqualTo(model).hasSameSizeAs(found);
    }

    /** Keys of several lengths, some longer than the near tier takes. */
    private At at(int number) {
        int length = number % 50 == 7 ? 600 : number % 20 == 3 ? 100 : 4 + number % 53;
        byte[] bytes = ByteBuffer.allocate(length).putInt(number).array();
        int namespaceLength = number % 3 * (length - 4) / 3;
        key.setKey(number % KEY_GROUPS, bytes, 0, length - namespaceLength);
        key.setNamespace(bytes, length - namespaceLength, namespaceLength);
        return new At(timestamp(number), key.keyGroup(), key.hash() >>> 16, number);
    }

    /** Many equal ones. */
    private static long timestamp(int number) {
        return switch (number % 11) {
            case 0 -> Long.MIN_VALUE;
            case 1 -> Long.MAX_VALUE;
            case 2 -> -(number / 1000);
            case 3 -> number * 0x9e3779b97f4a7c15L;
            default -> number % 8 * 1000L;
        };
    }

    private At read(Trigger from) {
        return read(from.timestamp(), from.key());
    }

    private At read(long timestamp, StateKey from) {
        int number = ByteBuffer.wrap(from.bytes()).getInt(0);
        At expected = at(number);
        assertThat(timestamp).isEqualTo(expected.timestamp());
        assertThat(from.keyLength()).isEqualTo(key.keyLength());
        assertThat(from.namespaceLength()).isEqualTo(key.namespaceLength());
        assertThat(from.keyGroup()).isEqualTo(key.keyGroup());
        return expected;
    }

    @Test
    void triggersThatComeAndGoTouchNoPage() {
        long empty = pages.stats().memoryBytes();
        int live = 10;
        for (int i = 0; i < 10_000; i++) {
            triggers.add(at(0).timestamp() + i, key);
            if (i >= live) {
                assertThat(triggers.remove(at(0).timestamp() + i - live, key)).isTrue();
            }
            assertThat(triggers.add(at(0).timestamp() + i, key)).isFalse();
        }
        assertThat(pages.stats().memoryBytes()).isEqualTo(empty + NEAR_BYTES);
        assertThat(triggers.size()).isEqualTo(live);
    }

    @Test
    void nearTierIsGivenBackWhenTheShareGetsSmall() {
        triggers.add(1, keyOf(1));
        triggers.settle();
        long withNear = pages.stats().memoryBytes();
        List<Runnable> others = new ArrayList<>();
        for (int i = 0; i < (2 << 20) / 8 / NEAR_BYTES; i++) {
            others.add(() -> {});
            budget.join(others.get(i));
        }
        triggers.giveBack();
        assertThat(pages.stats().memoryBytes()).as("nobody needs it").isEqualTo(withNear);
        budget.raisePressure(others.get(0));
        withNear = pages.stats().memoryBytes(); // some pages have gone
        triggers.giveBack();
        assertThat(pages.stats().memoryBytes()).isEqualTo(withNear - NEAR_BYTES);
        assertThat(triggers.add(1, keyOf(1))).isFalse();
        assertThat(triggers.add(2, keyOf(2))).isTrue();
        assertThat(triggers.size()).isEqualTo(2);
        others.forEach(budget::leave);
    }

    private StateKey keyOf(int number) {
        at(number);
        return key;
    }
}
