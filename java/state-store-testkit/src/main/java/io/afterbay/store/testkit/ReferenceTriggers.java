package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateKey;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Triggers, ordered as they fire; equal timestamps of a key group in the order of their addresses.
 */
final class ReferenceTriggers implements TriggerSchedule {
    private static final Comparator<Row> FIRING_ORDER =
            Comparator.comparingLong(Row::timestamp)
                    .thenComparingInt(Row::keyGroup)
                    .thenComparing(Row::address);

    private final ReferenceStore store;
    private final TreeSet<Row> triggers = new TreeSet<>(FIRING_ORDER);

    ReferenceTriggers(ReferenceStore store) {
        this.store = store;
    }

    @Override
    public boolean add(long timestamp, StateKey key) {
        return triggers.add(row(timestamp, key));
    }

    @Override
    public boolean remove(long timestamp, StateKey key) {
        return triggers.remove(row(timestamp, key));
    }

    @Override
    public boolean contains(long timestamp, StateKey key) {
        return triggers.contains(row(timestamp, key));
    }

    private Row row(long timestamp, StateKey key) {
        store.check(this, key);
        return Row.ofTrigger(key.keyGroup(), Address.of(key), timestamp);
    }

    @Override
    public boolean peek(Trigger into) {
        store.checkOpen();
        if (triggers.isEmpty()) {
            return false;
        }
        Row first = triggers.first();
        StateKey key = new StateKey();
        first.address().copyTo(key, first.keyGroup());
        into.set(first.timestamp(), key);
        return true;
    }

    @Override
    public boolean poll(Trigger into) {
        boolean any = peek(into);
        triggers.pollFirst();
        return any;
    }

    @Override
    public List<Trigger> upcoming(int max) {
        return triggers.stream().limit(max).map(ReferenceTriggers::copy).toList();
    }

    private static Trigger copy(Row row) {
        StateKey key = new StateKey();
        row.address().copyTo(key, row.keyGroup());
        return Trigger.copyOf(row.timestamp(), key);
    }

    @Override
    public long size() {
        store.checkOpen();
        return triggers.size();
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        store.checkOpen();
        FrozenState frozen = freeze();
        Iterator<Integer> keyGroups = IntStream.rangeClosed(firstKeyGroup, lastKeyGroup).iterator();
        return new ReferenceCursor(new Concatenation<>(keyGroups, frozen::entries), store::isOpen);
    }

    FrozenState freeze() {
        TreeMap<Integer, List<Row>> groups = new TreeMap<>();
        for (Row row : triggers) {
            groups.computeIfAbsent(row.keyGroup(), group -> new ArrayList<>()).add(row);
        }
        return new Frozen(groups);
    }

    private record Frozen(TreeMap<Integer, List<Row>> groups) implements FrozenState {
        @Override
        public Iterator<Row> entries(int keyGroup) {
            return groups.getOrDefault(keyGroup, List.of()).iterator();
        }

        @Override
        public Iterator<Row> fragments(int keyGroup) {
            return entries(keyGroup);
        }
    }
}
