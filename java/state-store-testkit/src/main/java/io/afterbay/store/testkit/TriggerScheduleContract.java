package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.bytes;
import static io.afterbay.store.testkit.StoreFixture.key;
import static io.afterbay.store.testkit.StoreFixture.noise;
import static io.afterbay.store.testkit.StoreFixture.peek;
import static io.afterbay.store.testkit.StoreFixture.poll;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.StateKey;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The part of {@link StateStoreContract} about {@link TriggerSchedule}. */
interface TriggerScheduleContract extends StoreFixture {
    @Test
    default void emptyScheduleHasNoFirstTrigger() {
        TriggerSchedule triggers = store().triggers("t");
        assertThat(peek(triggers)).isNull();
        assertThat(poll(triggers)).isNull();
        assertThat(triggers.size()).isZero();
        assertThat(Contents.triggers(triggers.scan(0, 32767))).isEmpty();
    }

    @Test
    default void addAndRemoveTellWhetherTheTriggerWasThere() {
        TriggerSchedule triggers = store().triggers("t");
        StateKey key = key(1, "k", "w");
        assertThat(triggers.contains(10, key)).isFalse();
        assertThat(triggers.add(10, key)).isTrue();
        assertThat(triggers.add(10, key)).isFalse();
        assertThat(triggers.contains(10, key)).isTrue();
        assertThat(triggers.size()).isEqualTo(1);
        assertThat(triggers.remove(11, key)).isFalse();
        assertThat(triggers.remove(10, key(1, "k", "v"))).isFalse();
        assertThat(triggers.remove(10, key(2, "k", "w"))).isFalse();
        assertThat(triggers.remove(10, key)).isTrue();
        assertThat(triggers.remove(10, key)).isFalse();
        assertThat(triggers.size()).isZero();
        assertThat(peek(triggers)).isNull();
    }

    @Test
    default void triggersComeByTimestampThenKeyGroup() {
        TriggerSchedule triggers = store().triggers("t");
        long[] timestamps = {
            Long.MAX_VALUE,
            0,
            -1,
            Long.MIN_VALUE,
            1,
            Long.MAX_VALUE - 1,
            Long.MIN_VALUE + 1,
            1L << 40,
            255,
            256,
            -(1L << 40)
        };
        int[] groups = {32767, 0, 128, 1, 255, 256, 127};
        List<TriggerAt> expected = new ArrayList<>();
        for (long timestamp : timestamps) {
            for (int group : groups) {
                assertThat(triggers.add(timestamp, key(group, "k", "w"))).isTrue();
                expected.add(new TriggerAt(timestamp, Place.of(key(group, "k", "w"))));
            }
        }
        expected.sort(Sorting.FIRING);
        for (TriggerAt trigger : expected) {
            assertThat(peek(triggers)).isEqualTo(trigger);
            assertThat(poll(triggers)).isEqualTo(trigger);
        }
        assertThat(poll(triggers)).isNull();
    }

    @Test
    default void triggersBeforeTheLastPolledAreLegal() {
        TriggerSchedule triggers = store().triggers("t");
        triggers.add(100, key(5, "k"));
        triggers.add(200, key(5, "k"));
        assertThat(poll(triggers)).isEqualTo(new TriggerAt(100, Place.of(key(5, "k"))));
        triggers.add(50, key(5, "k"));
        triggers.add(100, key(1, "k"));
        triggers.add(Long.MIN_VALUE, key(9, "k"));
        assertThat(poll(triggers)).isEqualTo(new TriggerAt(Long.MIN_VALUE, Place.of(key(9, "k"))));
        assertThat(poll(triggers)).isEqualTo(new TriggerAt(50, Place.of(key(5, "k"))));
        assertThat(poll(triggers)).isEqualTo(new TriggerAt(100, Place.of(key(1, "k"))));
        assertThat(poll(triggers)).isEqualTo(new TriggerAt(200, Place.of(key(5, "k"))));
    }

    @Test
    default void headFollowsAddsAndRemoves() {
        TriggerSchedule triggers = store().triggers("t");
        triggers.add(10, key(0, "a"));
        triggers.add(20, key(0, "b"));
        triggers.add(5, key(0, "c"));
        assertThat(peek(triggers)).isEqualTo(new TriggerAt(5, Place.of(key(0, "c"))));
        triggers.remove(5, key(0, "c"));
        assertThat(peek(triggers)).isEqualTo(new TriggerAt(10, Place.of(key(0, "a"))));
        triggers.remove(20, key(0, "b"));
        assertThat(peek(triggers)).isEqualTo(new TriggerAt(10, Place.of(key(0, "a"))));
        triggers.remove(10, key(0, "a"));
        assertThat(peek(triggers)).isNull();
    }

    @Test
    default void equalTimestampsOfAKeyGroupComeOnceEachAndPeekForetellsPoll() {
        TriggerSchedule triggers = store().triggers("t");
        Set<TriggerAt> expected = new HashSet<>();
        for (int i = 0; i < 3000; i++) {
            StateKey key = key(2, "key-" + i % 1000, "w" + i / 1000);
            triggers.add(77, key);
            expected.add(new TriggerAt(77, Place.of(key)));
        }
        Set<TriggerAt> polled = new HashSet<>();
        for (int i = 0; i < 3000; i++) {
            TriggerAt first = peek(triggers);
            assertThat(peek(triggers)).isEqualTo(first);
            assertThat(poll(triggers)).isEqualTo(first);
            assertThat(first).isNotNull();
            polled.add(first);
        }
        assertThat(polled).isEqualTo(expected);
        assertThat(triggers.size()).isZero();
    }

    @Test
    default void oneKeyMayHaveManyTriggers() {
        TriggerSchedule triggers = store().triggers("t");
        for (int i = 0; i < 1000; i++) {
            assertThat(triggers.add(i * 37L % 1000, key(0, "k"))).isTrue();
        }
        assertThat(triggers.size()).isEqualTo(1000);
        for (int i = 0; i < 1000; i++) {
            assertThat(poll(triggers)).isEqualTo(new TriggerAt(i, Place.of(key(0, "k"))));
        }
    }

    @Test
    default void boundaryBetweenKeyAndNamespaceOfATriggerCounts() {
        TriggerSchedule triggers = store().triggers("t");
        assertThat(triggers.add(1, key(0, "ab", "c"))).isTrue();
        assertThat(triggers.add(1, key(0, "a", "bc"))).isTrue();
        assertThat(triggers.add(1, key(0, "abc", ""))).isTrue();
        assertThat(triggers.remove(1, key(0, "a", "bc"))).isTrue();
        assertThat(triggers.contains(1, key(0, "ab", "c"))).isTrue();
        assertThat(triggers.contains(1, key(0, "abc", ""))).isTrue();
        assertThat(triggers.size()).isEqualTo(2);
    }

    @Test
    default void longKeysOfTriggers() {
        TriggerSchedule triggers = store().triggers("t");
        byte[] other = noise(1, 100_000);
        other[99_999]++;
        StateKey first = key(0, noise(1, 100_000), bytes("w"));
        StateKey second = key(0, other, bytes("w"));
        assertThat(triggers.add(2, first)).isTrue();
        assertThat(triggers.add(1, second)).isTrue();
        assertThat(triggers.add(2, first)).isFalse();
        assertThat(triggers.contains(2, second)).isFalse();
        assertThat(poll(triggers)).isEqualTo(new TriggerAt(1, Place.of(second)));
        assertThat(Contents.triggers(triggers.scan(0, 0)))
                .containsExactly(new TriggerAt(2, Place.of(first)));
        assertThat(poll(triggers)).isEqualTo(new TriggerAt(2, Place.of(first)));
    }

    @Test
    default void triggerScanShowsTheRangeByKeyGroupThenTimestampAndRemovesNothing() {
        TriggerSchedule triggers = store().triggers("t");
        Set<TriggerAt> expected = new HashSet<>();
        Random random = new Random(6);
        for (int i = 0; i < 3000; i++) {
            long timestamp = i % 10 == 0 ? random.nextLong() : random.nextInt(50) - 25;
            StateKey key = key(random.nextInt(12), "key-" + i, "w");
            triggers.add(timestamp, key);
            if (key.keyGroup() >= 4 && key.keyGroup() <= 8) {
                expected.add(new TriggerAt(timestamp, Place.of(key)));
            }
        }
        assertThat(Contents.triggers(triggers.scan(4, 8))).isEqualTo(expected);
        assertThat(Contents.triggers(triggers.scan(4, 8))).isEqualTo(expected);
        assertThat(triggers.size()).isEqualTo(3000);
    }

    @Test
    default void schedulesAreApart() {
        store().triggers("event-time").add(10, key(0, "k"));
        store().triggers("processing-time").add(5, key(0, "k"));
        assertThat(peek(store().triggers("event-time")))
                .isEqualTo(new TriggerAt(10, Place.of(key(0, "k"))));
        store().drop("event-time");
        assertThat(peek(store().triggers("event-time"))).isNull();
        assertThat(store().triggers("processing-time").size()).isEqualTo(1);
    }

    @Test
    default void pollFillsOneTriggerAgainAndAgain() {
        TriggerSchedule triggers = store().triggers("t");
        triggers.add(1, key(0, "a long key of the first trigger", "namespace"));
        triggers.add(2, key(3, "k", ""));
        Trigger trigger = new Trigger();
        assertThat(triggers.poll(trigger)).isTrue();
        assertThat(triggers.poll(trigger)).isTrue();
        assertThat(trigger.timestamp()).isEqualTo(2);
        assertThat(Place.of(trigger.key())).isEqualTo(Place.of(key(3, "k", "")));
        assertThat(triggers.poll(trigger)).isFalse();
    }

    @Test
    default void triggersOfFourTimesTheBudgetFireInOrder() {
        TriggerSchedule triggers = store().triggers("t");
        int count = (int) (4 * budget().totalBytes() / 60);
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            order.add(i);
        }
        Collections.shuffle(order, new Random(7));
        for (int i : order) {
            assertThat(triggers.add(timestampOf(i), keyOf(i))).isTrue();
        }
        assertThat(triggers.size()).isEqualTo(count);
        for (int i = 0; i < count; i += 3) {
            assertThat(triggers.remove(timestampOf(i), keyOf(i))).isTrue();
        }
        TriggerAt last = null;
        int fired = 0;
        for (TriggerAt next = poll(triggers); next != null; next = poll(triggers)) {
            assertThat(last == null || Sorting.FIRING_TIES.compare(last, next) <= 0)
                    .as("%s before %s", last, next)
                    .isTrue();
            last = next;
            fired++;
        }
        assertThat(fired).isEqualTo(count - (count + 2) / 3);
    }

    /** A store may hold them in several places; which is nobody's business. */
    @Test
    default void triggersAreThereOnceHoweverOftenTheyAreAddedAroundSnapshots() {
        TriggerSchedule triggers = store().triggers("t");
        int count = (int) (budget().totalBytes() / 400);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < count; i++) {
                assertThat(triggers.add(5, keyOf(i))).isEqualTo(round == 0 || i % 4 == round);
                assertThat(triggers.add(5, keyOf(i))).isFalse();
                if (i % (count / 3) == 0) {
                    store().snapshot().close();
                }
            }
            assertThat(triggers.size()).isEqualTo(count);
            for (int i = round + 1; i < count; i += 4) {
                assertThat(triggers.remove(5, keyOf(i))).isTrue();
                assertThat(triggers.contains(5, keyOf(i))).isFalse();
            }
        }
        Set<TriggerAt> fired = new HashSet<>();
        int group = 0;
        for (TriggerAt next = poll(triggers); next != null; next = poll(triggers)) {
            assertThat(next.place().toKey().keyGroup()).isGreaterThanOrEqualTo(group);
            group = next.place().toKey().keyGroup();
            assertThat(fired.add(next)).as("%s fires for the first time", next).isTrue();
        }
        assertThat(fired).hasSize(count - count / 4);
        assertThat(triggers.size()).isZero();
    }

    private static long timestampOf(int i) {
        return i / 500 * 1000L;
    }

    private static StateKey keyOf(int i) {
        return key(i % 32, "key-%09d-of-some-length".formatted(i), "window-" + i / 500);
    }
}
