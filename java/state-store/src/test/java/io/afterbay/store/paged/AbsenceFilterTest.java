package io.afterbay.store.paged;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateKey;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.tree.Chains;
import io.afterbay.store.tree.EntryKey;
import io.afterbay.store.tree.Tree;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AbsenceFilterTest {
    private static final byte[] VALUE = new byte[24];

    @TempDir Path directory;
    private final MemoryBudget budget = new MemoryBudget(8 << 20);
    private final Random random = new Random(11);
    private final EntryKey entry = new EntryKey();
    private final Set<Integer> present = new HashSet<>();
    private long allocatedBefore;
    private PageStore pages;
    private Tree tree;
    private AbsenceFilter filter;

    @BeforeEach
    void open() {
        allocatedBefore = Memory.allocatedBytes();
        pages =
                new PageStore(
                        new StoreOptions(
                                "test",
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
        tree = new Tree(pages, new Chains(pages), false);
        filter = new AbsenceFilter(pages, tree, 64);
    }

    @AfterEach
    void closeAndFindLeaks() {
        filter.end();
        pages.close();
        assertThat(Memory.allocatedBytes()).isEqualTo(allocatedBefore);
    }

    private EntryKey key(int number) {
        byte[] bytes = ByteBuffer.allocate(4).putInt(number).array();
        return entry.value(new StateKey().setKey(Math.floorMod(number, 128), bytes));
    }

    private void put(int number) {
        pages.safepoint();
        filter.comes(key(number));
        tree.put(entry, VALUE, 0, VALUE.length);
        present.add(number);
    }

    private void remove(int number) {
        pages.safepoint();
        boolean removed = filter.mayHold(key(number)) && tree.remove(entry);
        assertThat(removed).isEqualTo(present.remove(number));
    }

    private void findAll() {
        for (int number : present) {
            assertThat(filter.mayHold(key(number))).isTrue();
        }
    }

    private double needlessAnswers() {
        int needless = 0;
        for (int i = 0; i < 10_000; i++) {
            needless += filter.mayHold(key(-1 - i)) ? 1 : 0;
        }
        return needless / 10_000.0;
    }

    /** The set grows and shrinks by thousands, so that filters are made larger, anew, and begun. */
    @Test
    void noKeyOfTheTreeIsEverDenied() {
        int rebuilding = 0;
        for (int round = 0; round < 12; round++) {
            int range = 1 << 4 + random.nextInt(10);
            for (int i = 0; i < 20_000; i++) {
                int number = random.nextInt(range);
                if (random.nextInt(3) > 0) {
                    put(number);
                } else {
                    remove(number);
                }
                rebuilding += filter.isRebuilding() ? 1 : 0;
                if (random.nextInt(500) == 0) {
                    findAll();
                }
            }
            assertThat(filter.isOn()).isTrue();
            assertThat(needlessAnswers()).isLessThan(0.25);
            for (int number : Set.copyOf(present)) {
                if (round % 3 == 0 || number % 16 != 0) {
                    remove(number);
                }
            }
        }
        assertThat(rebuilding).isGreaterThan(300);
    }

    @Test
    void mostAbsentKeysAreKnownToBeAbsent() {
        for (int number = 0; number < 50_000; number++) {
            put(number);
        }
        assertThat(filter.isOn()).isTrue();
        assertThat(needlessAnswers()).isLessThan(0.1);
    }

    @Test
    void itIsOffWhenItWouldTakeMoreThanItsPart() {
        int keysMax = (8 << 20) / 64;
        for (int number = 0; number < 2 * keysMax; number++) {
            put(number);
        }
        assertThat(filter.isOn()).isFalse();
        assertThat(filter.mayHold(key(-1))).isTrue();
    }

    @Test
    void itBeginsWhenTheTreeIsEmptyAgain() {
        put(1);
        filter.end();
        put(2);
        assertThat(filter.isOn()).isFalse();
        remove(1);
        remove(2);
        put(3);
        assertThat(filter.isOn()).isTrue();
        assertThat(filter.mayHold(key(1))).isFalse();
        findAll();
    }

    @Test
    void memoryIsGivenBackWhenTheShareShrinks() {
        for (int number = 0; number < 50_000; number++) {
            put(number);
        }
        for (int i = 0; i < 31; i++) {
            budget.join(() -> {});
        }
        filter.giveBack();
        assertThat(filter.isOn()).isFalse();
        findAll();
    }
}
