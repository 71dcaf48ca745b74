package io.afterbay.flink.timers;

import io.afterbay.flink.state.CurrentKey;
import io.afterbay.flink.state.FiringLists;
import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateKey;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import java.util.Collection;
import java.util.HashSet;
import java.util.NoSuchElementException;
import java.util.Set;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.apache.flink.util.CloseableIterator;
import org.jspecify.annotations.Nullable;

/**
 * Flink's timer queue on a {@link TriggerSchedule}. Equal timestamps come key group by key group,
 * so that the windows that fire at one time are read one partition after the other.
 *
 * <p>The head is kept deserialised between {@link #peek} and {@link #poll}; whatever may have
 * changed it drops it.
 */
public final class TriggerQueue<K, N>
        implements KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<K, N>> {
    private TriggerSchedule schedule;
    private final CurrentKey<K> currentKey;
    private final FiringLists lists;
    private final int totalKeyGroups;
    private TimerKeys<K, N> keys;
    private TypeSerializer<N> namespaceSerializer;
    private final KeyGroupRange keyGroups;
    private final Trigger trigger = new Trigger();

    /** The first timer; null if it is not known or there is none. */
    private @Nullable TimerHeapInternalTimer<K, N> head;

    /** The key group of {@link #head}. */
    private int headKeyGroup;

    /** The timer that was added last, under this version of the current key; 0: none is known. */
    private long addedVersion;

    private long addedTimestamp;
    private @Nullable N addedNamespace;

    /**
     * @param lists which fire with these timers
     */
    public TriggerQueue(
            TriggerSchedule schedule,
            TimerSerializer<K, N> serializer,
            CurrentKey<K> currentKey,
            FiringLists lists,
            KeyGroupRange keyGroups,
            int totalKeyGroups) {
        this.schedule = schedule;
        this.currentKey = currentKey;
        this.lists = lists;
        this.namespaceSerializer = serializer.getNamespaceSerializer();
        this.keys = new TimerKeys<>(serializer, currentKey, totalKeyGroups);
        this.keyGroups = keyGroups;
        this.totalKeyGroups = totalKeyGroups;
    }

    /** Goes on with another serializer, on a schedule that may have been rewritten for it. */
    void update(TriggerSchedule newSchedule, TimerSerializer<K, N> serializer) {
        schedule = newSchedule;
        namespaceSerializer = serializer.getNamespaceSerializer();
        keys = new TimerKeys<>(serializer, currentKey, totalKeyGroups);
        head = null;
        addedVersion = 0;
    }

    @Override
    public @Nullable TimerHeapInternalTimer<K, N> peek() {
        currentKey.beginAccess();
        if (head == null && schedule.peek(trigger)) {
            head = keys.timer(trigger.timestamp(), trigger.key());
            headKeyGroup = trigger.key().keyGroup();
        }
        return head;
    }

    @Override
    public @Nullable TimerHeapInternalTimer<K, N> poll() {
        currentKey.beginAccess();
        lists.beforeFiring(schedule, namespaceSerializer);
        if (!schedule.poll(trigger)) {
            return null;
        }
        TimerHeapInternalTimer<K, N> known = head;
        head = null;
        addedVersion = 0;
        return known == null ? keys.timer(trigger.timestamp(), trigger.key()) : known;
    }

    /** Whether the head changed, or may have. */
    @Override
    public boolean add(TimerHeapInternalTimer<K, N> toAdd) {
        currentKey.beginAccess();
        if (wasAddedLast(toAdd)) {
            return false;
        }
        StateKey key = keys.of(toAdd);
        boolean added = schedule.add(toAdd.getTimestamp(), key);
        rememberAdded(toAdd);
        return added && dropHeadUnlessBehind(toAdd, key);
    }

    /** A window operator adds each timer twice: to fire, and to clean up. */
    private boolean wasAddedLast(TimerHeapInternalTimer<K, N> timer) {
        return addedVersion != 0
                && addedVersion == currentKey.version()
                && addedTimestamp == timer.getTimestamp()
                && currentKey.isSame(timer.getKey())
                && timer.getNamespace().equals(addedNamespace);
    }

    private void rememberAdded(TimerHeapInternalTimer<K, N> timer) {
        addedVersion = currentKey.isSame(timer.getKey()) ? currentKey.version() : 0;
        addedTimestamp = timer.getTimestamp();
        addedNamespace = timer.getNamespace();
    }

    /** Whether the head changed, or may have. */
    @Override
    public boolean remove(TimerHeapInternalTimer<K, N> toRemove) {
        currentKey.beginAccess();
        addedVersion = 0;
        StateKey key = keys.of(toRemove);
        return schedule.remove(toRemove.getTimestamp(), key) && dropHeadUnlessBehind(toRemove, key);
    }

    /** Forgets the head unless the timer comes after it for certain. */
    private boolean dropHeadUnlessBehind(TimerHeapInternalTimer<K, N> timer, StateKey key) {
        if (head != null) {
            int order = Long.compare(head.getTimestamp(), timer.getTimestamp());
            if (order < 0 || (order == 0 && headKeyGroup < key.keyGroup())) {
                return false;
            }
        }
        head = null;
        return true;
    }

    @Override
    public void addAll(@Nullable Collection<? extends TimerHeapInternalTimer<K, N>> toAdd) {
        currentKey.beginAccess();
        if (toAdd != null) {
            toAdd.forEach(this::add);
        }
    }

    @Override
    public boolean isEmpty() {
        currentKey.beginAccess();
        return schedule.size() == 0;
    }

    @Override
    public int size() {
        currentKey.beginAccess();
        return (int) Math.min(schedule.size(), Integer.MAX_VALUE);
    }

    @Override
    public CloseableIterator<TimerHeapInternalTimer<K, N>> iterator() {
        currentKey.beginAccess();
        return new Timers(keyGroups.getStartKeyGroup(), keyGroups.getEndKeyGroup());
    }

    @Override
    public Set<TimerHeapInternalTimer<K, N>> getSubsetForKeyGroup(int keyGroupId) {
        currentKey.beginAccess();
        Set<TimerHeapInternalTimer<K, N>> timers = new HashSet<>();
        try (Timers all = new Timers(keyGroupId, keyGroupId)) {
            all.forEachRemaining(timers::add);
        }
        return timers;
    }

    private final class Timers implements CloseableIterator<TimerHeapInternalTimer<K, N>> {
        private final EntryCursor cursor;
        private boolean onEntry;
        private boolean ended;

        Timers(int firstKeyGroup, int lastKeyGroup) {
            cursor = schedule.scan(firstKeyGroup, lastKeyGroup);
        }

        @Override
        public boolean hasNext() {
            currentKey.beginAccess();
            if (!onEntry && !ended) {
                onEntry = cursor.next();
                ended = !onEntry;
            }
            return onEntry;
        }

        @Override
        public TimerHeapInternalTimer<K, N> next() {
            currentKey.beginAccess();
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            onEntry = false;
            return keys.timer(cursor.timestamp(), cursor.key());
        }

        @Override
        public void close() {
            currentKey.beginAccess();
            cursor.close();
        }
    }
}
