package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateKey;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import java.util.List;

final class BrokenTriggers implements TriggerSchedule {
    private final BrokenStore broken;
    private final TriggerSchedule triggers;

    BrokenTriggers(BrokenStore broken, TriggerSchedule triggers) {
        this.broken = broken;
        this.triggers = triggers;
    }

    @Override
    public boolean add(long timestamp, StateKey key) {
        return triggers.add(timestamp, key);
    }

    @Override
    public boolean remove(long timestamp, StateKey key) {
        return broken.strikes(Defect.FIRES_REMOVED_TRIGGERS)
                ? triggers.contains(timestamp, key)
                : triggers.remove(timestamp, key);
    }

    @Override
    public boolean contains(long timestamp, StateKey key) {
        return triggers.contains(timestamp, key);
    }

    @Override
    public boolean peek(Trigger into) {
        return triggers.peek(into);
    }

    @Override
    public boolean poll(Trigger into) {
        if (broken.strikes(Defect.FIRES_TWICE)) {
            return triggers.peek(into);
        }
        boolean any = triggers.poll(into);
        if (any && broken.strikes(Defect.SWAPS_TRIGGERS)) {
            Trigger first = new Trigger();
            first.set(into.timestamp(), into.key());
            if (triggers.poll(into)) {
                triggers.add(first.timestamp(), first.key());
            }
        }
        return any;
    }

    @Override
    public List<Trigger> upcoming(int max) {
        return triggers.upcoming(max);
    }

    @Override
    public long size() {
        return triggers.size();
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        return triggers.scan(firstKeyGroup, lastKeyGroup);
    }
}
