package io.afterbay.flink.state;

import io.afterbay.store.ListReader;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateStore;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Has the lists of the timers that fire next read together, when the first of them fires: each is
 * under the key and namespace of its timer. FlowKV (section 4.2) predicts when windows fire; the
 * timers say so. Of lists that are read window by window the store knows by itself.
 *
 * <p>Timers of merging windows have the window as it is now for their namespace, while the list is
 * under the window with which it began: the set of windows tells one from the other.
 *
 * <p>A list that is left out, or read in vain because its timer moves, costs time only. For the
 * task's thread; one for each queue of timers.
 */
public final class FiringLists {
    /** Timers to let pass when all lists were in memory. */
    private static final int PAUSE = 256;

    /** As {@code VoidNamespaceSerializer} writes it. */
    private static final byte[] VOID_NAMESPACE = {0};

    private final StateStore store;
    private final StateRegistry registry;
    private final CurrentKey<?> currentKey;
    private final int timersMax;
    private final Slice element = new Slice();
    private int timersToPass;

    /**
     * @param timersMax of so many timers the lists are read together
     */
    public FiringLists(
            StateStore store, StateRegistry registry, CurrentKey<?> currentKey, int timersMax) {
        this.store = store;
        this.registry = registry;
        this.currentKey = currentKey;
        this.timersMax = timersMax;
    }

    /** Called before the first timer of a queue is taken out. */
    public void beforeFiring(TriggerSchedule timers, TypeSerializer<?> namespaces) {
        if (--timersToPass < 0) {
            boolean isUseful = store.readsAhead() && hasLists(namespaces);
            int read = isUseful ? readAhead(timers, namespaces) : 0;
            timersToPass = read == 0 ? PAUSE : read - 1;
        }
    }

    private boolean hasLists(TypeSerializer<?> namespaces) {
        return registry.states().stream().anyMatch(state -> fire(state, namespaces));
    }

    /** Whether a state has lists that may fire with timers of such namespaces. */
    private static boolean fire(KvState<?, ?> state, TypeSerializer<?> namespaces) {
        return state.alignment() == ReadAlignment.UNALIGNED
                && !state.name().equals(ListLayout.MERGING_WINDOWS)
                && namespaces.equals(state.metaInfo().getNamespaceSerializer());
    }

    private int readAhead(TriggerSchedule timers, TypeSerializer<?> namespaces) {
        List<StateKey> keys =
                timers.upcoming(timersMax).stream().map(Trigger::key).map(this::listKey).toList();
        int read = 0;
        for (KvState<?, ?> state : registry.states()) {
            if (fire(state, namespaces)) {
                read = Math.max(read, state.lists(store, registry).readAhead(keys));
            }
        }
        return read;
    }

    /** Where the list of a timer is. */
    private StateKey listKey(StateKey timer) {
        KvState<?, ?> windows = registry.state(ListLayout.MERGING_WINDOWS);
        return windows == null || windows.alignment() == null ? timer : stateWindow(windows, timer);
    }

    private StateKey stateWindow(KvState<?, ?> windows, StateKey timer) {
        StateKey set =
                new StateKey()
                        .setKey(timer.keyGroup(), timer.bytes(), 0, timer.keyLength())
                        .setNamespace(VOID_NAMESPACE);
        ListReader reader = windows.lists(store, registry).get(set);
        if (reader != null) {
            currentKey.readerHandedOut();
            setStateWindow(reader.elements(), timer);
        }
        return timer;
    }

    /** Each element of the set is a window, and the one with which its state began, serialised. */
    private void setStateWindow(ListReader.Elements windows, StateKey timer) {
        int length = timer.namespaceLength();
        while (windows.next(element)) {
            if (element.length() > length && beginsWithNamespace(element, timer)) {
                timer.setNamespace(element.array(), length, element.length() - length);
                return;
            }
        }
    }

    private static boolean beginsWithNamespace(Slice element, StateKey timer) {
        int from = timer.keyLength();
        return Arrays.equals(
                element.array(),
                0,
                timer.namespaceLength(),
                timer.bytes(),
                from,
                from + timer.namespaceLength());
    }
}
