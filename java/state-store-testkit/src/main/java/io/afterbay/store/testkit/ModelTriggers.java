package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.StateKey;
import io.afterbay.store.TriggerSchedule;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The steps of a random run on a trigger schedule. */
final class ModelTriggers {
    static final String NAME = "triggers";

    private final Twin twin;
    private final TriggerSchedule actual;
    private final TriggerSchedule model;

    ModelTriggers(Twin twin) {
        this.twin = twin;
        this.actual = twin.store().triggers(NAME);
        this.model = twin.model().triggers(NAME);
    }

    /** Mostly few and equal ones, sometimes extreme. */
    private static long timestamp(int number) {
        return switch (Math.floorMod(number, 23)) {
            case 0 -> Long.MIN_VALUE;
            case 1 -> Long.MAX_VALUE;
            case 2 -> -1L - Math.floorMod(number, 1000);
            case 3 -> number * 0x9e3779b97f4a7c15L;
            default -> Math.floorMod(number, 40) * 1000L;
        };
    }

    void add(Step step) {
        add(step.place(), step.extra());
    }

    private void add(int place, int number) {
        StateKey key = twin.keys().key(place);
        long timestamp = timestamp(number);
        assertThat(actual.add(timestamp, key))
                .as("add of %d for %s", timestamp, Place.of(key))
                .isEqualTo(model.add(timestamp, key));
    }

    void bulkAdd(Step step) {
        for (int i = 0; i < twin.bulkCount(0); i++) {
            add(step.place() + i, step.extra() + i / 5);
        }
    }

    void remove(Step step) {
        StateKey key = twin.keys().key(step.place());
        long timestamp = timestamp(step.extra());
        assertThat(actual.contains(timestamp, key)).isEqualTo(model.contains(timestamp, key));
        assertThat(actual.remove(timestamp, key))
                .as("removal of %d for %s", timestamp, Place.of(key))
                .isEqualTo(model.remove(timestamp, key));
    }

    void peek() {
        checkHead(StoreFixture.peek(actual));
    }

    void upcoming(Step step) {
        int max = 1 + Math.floorMod(step.extra(), 90);
        List<TriggerAt> found = actual.upcoming(max).stream().map(StoreFixture::of).toList();
        assertThat(found).as("upcoming triggers").hasSizeLessThanOrEqualTo(max);
        assertThat(found).doesNotHaveDuplicates();
        assertThat(found).isSortedAccordingTo(Comparator.comparingLong(TriggerAt::timestamp));
        assertThat(found).allMatch(each -> model.contains(each.timestamp(), each.place().toKey()));
        TriggerAt first = StoreFixture.peek(model);
        assertThat(found.isEmpty()).isEqualTo(first == null);
        if (first != null) {
            assertThat(found.get(0).timestamp()).isEqualTo(first.timestamp());
        }
    }

    void poll() {
        TriggerAt before = StoreFixture.peek(actual);
        TriggerAt polled = StoreFixture.poll(actual);
        assertThat(polled).as("poll after peek").isEqualTo(before);
        checkHead(polled);
        if (polled != null) {
            model.remove(polled.timestamp(), polled.place().toKey());
        }
        assertThat(actual.size()).as("number of triggers").isEqualTo(model.size());
    }

    void pollMany(Step step) {
        for (int i = 0; i < Math.floorMod(step.extra(), 400); i++) {
            poll();
        }
    }

    /** Ties may come in another order than in the model, but must be in it. */
    private void checkHead(@Nullable TriggerAt head) {
        TriggerAt expected = StoreFixture.peek(model);
        if (head == null || expected == null) {
            assertThat(head).as("the first trigger").isEqualTo(expected);
            return;
        }
        assertThat(Sorting.FIRING_TIES.compare(head, expected))
                .as("%s in the place of %s", head, expected)
                .isZero();
        assertThat(model.contains(head.timestamp(), head.place().toKey()))
                .as("%s is in the schedule", head)
                .isTrue();
    }

    void scan(int firstKeyGroup, int lastKeyGroup) {
        assertThat(actual.size()).as("number of triggers").isEqualTo(model.size());
        assertThat(Contents.triggers(actual.scan(firstKeyGroup, lastKeyGroup)))
                .as("scan of triggers, key groups %d..%d", firstKeyGroup, lastKeyGroup)
                .isEqualTo(Contents.triggers(model.scan(firstKeyGroup, lastKeyGroup)));
    }
}
