package io.afterbay.flink.snapshot;

import io.afterbay.flink.snapshot.RestoredStates.KvTarget;
import io.afterbay.flink.snapshot.RestoredStates.Target;
import io.afterbay.flink.snapshot.RestoredStates.TimerTarget;
import io.afterbay.flink.state.KvState;
import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.MapStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.ValueStore;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;

/** Copies entries of some key groups from one store to another, byte for byte. */
final class StateCopy {
    private final RestoredStates restored;
    private final Slice element = new Slice();

    StateCopy(RestoredStates restored) {
        this.restored = restored;
    }

    void copy(
            StateStore from,
            List<Target> targets,
            KeyGroupRange keyGroups,
            Runnable betweenKeyGroups) {
        try (StoreSnapshot source = from.snapshot()) {
            for (int keyGroup : keyGroups) {
                targets.forEach(target -> copy(source, target, keyGroup));
                betweenKeyGroups.run();
            }
        }
    }

    private void copy(StoreSnapshot source, Target target, int keyGroup) {
        if (target instanceof KvTarget kv) {
            try (EntryCursor entries = source.fragments(kv.state().storeName(), keyGroup)) {
                copyState(kv.state(), entries);
            }
        } else if (target instanceof TimerTarget timers) {
            String name = timers.state().storeName();
            try (EntryCursor entries = source.fragments(name, keyGroup)) {
                copyTimers(restored.store().triggers(name), entries);
            }
        }
    }

    private void copyState(KvState<?, ?> state, EntryCursor entries) {
        switch (state.shape()) {
            case VALUE -> copyValues(restored.store().values(state.storeName()), entries);
            case MAP -> copyMaps(restored.store().maps(state.storeName()), entries);
            case LIST -> copyLists(state, entries);
            default -> throw new IllegalStateException("no entries in " + state.shape());
        }
    }

    private static void copyValues(ValueStore values, EntryCursor entry) {
        while (entry.next()) {
            values.put(entry.key(), entry.value().array(), 0, entry.value().length());
        }
    }

    private static void copyMaps(MapStore maps, EntryCursor entry) {
        while (entry.next()) {
            Slice userKey = entry.userKey();
            Slice value = entry.value();
            maps.put(
                    entry.key(),
                    userKey.array(),
                    userKey.length(),
                    value.array(),
                    0,
                    value.length());
        }
    }

    /** How lists are laid out is decided by the first entry, not by a state without any. */
    private void copyLists(KvState<?, ?> state, EntryCursor entry) {
        while (entry.next()) {
            ListStore lists = state.lists(restored.store(), restored.registry());
            ListReader.Elements elements = entry.list().elements();
            while (elements.next(element)) {
                lists.append(entry.key(), element.array(), 0, element.length());
            }
        }
    }

    private static void copyTimers(TriggerSchedule timers, EntryCursor entry) {
        while (entry.next()) {
            timers.add(entry.timestamp(), entry.key());
        }
    }
}
