package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateKey;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.near.NearTriggers;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.redo.RedoLog;
import io.afterbay.store.tree.Chains;
import java.io.DataInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Triggers in two tiers: what is added goes to a small one in memory, and from there to the tree
 * only if it is still there when room is short or a snapshot is taken.
 *
 * <pre>
 *    add, remove, contains                      peek, poll: the earlier of two heads
 *            |                                         ^                ^
 *     +------v-----------------------------------------+-----+          |
 *     |  near:   waiting to be written   |   copies          |          |
 *     +------|--------------------------------^--------------+          |
 *            | the latest, when it is full    | found again             |
 *            | all, before a snapshot, scan   | written                 |
 *     +------v--------------------------------|-------------------------+--+
 *     |  far:    tree, with a head for each key group                      |
 *     +--------------------------------------------------------------------+
 * </pre>
 *
 * <p>Invariants: a trigger waits, or is in the tree, never both. A copy is in the tree. Keys that
 * are long are in the tree only. The redo log has heard of what is in the tree, and, while it is
 * on, of what waits, but for those that are queued to be logged: at most {@link #QUEUED_MAX} are.
 * One that comes and goes while it is queued is never logged.
 *
 * <p>When a snapshot is expected, each addition moves a few of those that wait to the tree.
 */
final class PagedTriggers implements TriggerSchedule, State {
    /** A millisecond to log. */
    private static final int QUEUED_MAX = 1 << 12;

    /** A millisecond to write to the tree. */
    private static final int QUEUED_WHILE_CLEANING_MAX = 1 << 9;

    private static final int SLOTS_PER_CLEANING_STEP = 2;

    private final PageStore pages;
    private final FarTriggers far;
    private final RedoLog.OfState redo;

    /** Slots; some hold something else by now, or nothing. */
    private final ChangeQueue queue = new ChangeQueue(QUEUED_MAX, Long.MAX_VALUE);

    private final NearMemory memory;
    private @Nullable NearTriggers near;
    private final StateKey moved = new StateKey();
    private boolean isReplaying;
    private boolean isCleaning;
    private int cleanedTo;

    PagedTriggers(PageStore pages, Chains chains, StoreOptions options, RedoLog.OfState redo) {
        this(pages, chains, options, redo, new NearMemory(pages));
    }

    PagedTriggers(
            PageStore pages,
            Chains chains,
            StoreOptions options,
            RedoLog.OfState redo,
            NearMemory memory) {
        this.pages = pages;
        this.memory = memory;
        this.redo = redo;
        far = new FarTriggers(pages, chains, options);
    }

    // ---------------------------------------------------------------- one trigger

    @Override
    public boolean add(long timestamp, StateKey key) {
        pages.safepoint();
        return nearSlot(timestamp, key) == NearTriggers.ABSENT && addToEither(timestamp, key);
    }

    private int nearSlot(long timestamp, StateKey key) {
        return near == null || !near.takes(key) ? NearTriggers.ABSENT : near.find(timestamp, key);
    }

    private boolean addToEither(long timestamp, StateKey key) {
        if (!isReplaying && far.contains(timestamp, key)) {
            keepCopy(timestamp, key);
            return false;
        }
        NearTriggers tier = tierFor(key);
        if (tier == null) {
            far.add(timestamp, key);
            redo.triggerAdded(timestamp, key);
        } else {
            addWaiting(tier, timestamp, key);
        }
        return true;
    }

    private void addWaiting(NearTriggers tier, long timestamp, StateKey key) {
        int slot = tier.addWaiting(timestamp, key);
        if (isReplaying) {
            tier.setLogged(slot);
        } else if (redo.isOn()) {
            enqueue(tier, slot);
        }
        if (isCleaning) {
            clean(tier);
        }
    }

    /** Makes no room for it: that would cost more than copies save when there are too many. */
    private void keepCopy(long timestamp, StateKey key) {
        if (near != null && near.takes(key) && !near.isFull()) {
            near.addCopy(timestamp, key);
        }
    }

    @Override
    public boolean remove(long timestamp, StateKey key) {
        pages.safepoint();
        int slot = nearSlot(timestamp, key);
        if (near == null || slot == NearTriggers.ABSENT) {
            return removeFar(timestamp, key);
        }
        if (near.isCopy(slot)) {
            removeFar(timestamp, key);
        } else if (near.isLogged(slot)) {
            redo.triggerRemoved(timestamp, key);
        }
        near.remove(slot);
        return true;
    }

    private boolean removeFar(long timestamp, StateKey key) {
        boolean present = far.remove(timestamp, key);
        if (present) {
            redo.triggerRemoved(timestamp, key);
        }
        return present;
    }

    @Override
    public boolean contains(long timestamp, StateKey key) {
        pages.safepoint();
        return nearSlot(timestamp, key) != NearTriggers.ABSENT || far.contains(timestamp, key);
    }

    @Override
    public long size() {
        return far.size() + (near == null ? 0 : near.waiting());
    }

    // ---------------------------------------------------------------- the first trigger

    @Override
    public boolean peek(Trigger into) {
        pages.safepoint();
        NearTriggers first = nearIfFirst();
        if (first == null) {
            return far.peek(into);
        }
        read(first, first.first(), into);
        return true;
    }

    @Override
    public boolean poll(Trigger into) {
        pages.safepoint();
        NearTriggers first = nearIfFirst();
        if (first == null) {
            return pollFar(into);
        }
        int slot = first.first();
        read(first, slot, into);
        if (first.isLogged(slot)) {
            redo.triggerRemoved(into.timestamp(), into.key());
        }
        first.remove(slot);
        return true;
    }

    @Override
    public List<Trigger> upcoming(int max) {
        pages.safepoint();
        List<Trigger> found = new ArrayList<>();
        far.addUpcoming(max, found);
        if (near != null) {
            for (int slot : near.firstOnes(max)) {
                near.readKey(slot, moved);
                found.add(Trigger.copyOf(near.timestamp(slot), moved));
            }
        }
        found.sort(Comparator.comparingLong(Trigger::timestamp));
        return found.subList(0, Math.min(max, found.size()));
    }

    private boolean pollFar(Trigger into) {
        if (!far.poll(into)) {
            return false;
        }
        redo.triggerRemoved(into.timestamp(), into.key());
        int copy = nearSlot(into.timestamp(), into.key());
        if (near != null && copy != NearTriggers.ABSENT) {
            near.remove(copy);
        }
        return true;
    }

    private void read(NearTriggers tier, int slot, Trigger into) {
        tier.readKey(slot, moved);
        into.set(tier.timestamp(slot), moved);
    }

    /** The near tier, if the first trigger of all is there; passes safepoints. */
    private @Nullable NearTriggers nearIfFirst() {
        return near != null && near.waiting() > 0 && (far.isEmpty() || isBeforeFar(near))
                ? near
                : null;
    }

    private boolean isBeforeFar(NearTriggers tier) {
        int slot = tier.first();
        int order = Long.compare(tier.timestamp(slot), far.firstTimestamp());
        if (order == 0) {
            order = Integer.compare(tier.keyGroup(slot), far.firstKeyGroup());
        }
        return order != 0 ? order < 0 : tier.isBefore(slot, far.firstTimestamp(), far.firstKey());
    }

    // ---------------------------------------------------------------- from one tier to the other

    /** The near tier with room for this key; null if it is to go to the tree. */
    private @Nullable NearTriggers tierFor(StateKey key) {
        giveBack();
        if (key.length() > NearTriggers.KEY_BYTES_MAX || !memory.take()) {
            return null;
        }
        if (near == null) {
            near = new NearTriggers(memory.address(), memory.bytes(), key.length());
        } else if (!near.takes(key)) {
            near = withLongerSlots(near, key);
        } else if (near.isFull()) {
            makeRoom(near);
        }
        return near;
    }

    /** Slots grow by a step, so that this happens a few times at most. */
    private NearTriggers withLongerSlots(NearTriggers tier, StateKey key) {
        write(tier, tier.takeLatest(0), true);
        queue.clear();
        cleanedTo = 0;
        return new NearTriggers(memory.address(), memory.bytes(), key.length() + 15 & -16);
    }

    /** A quarter of the tier at least, so that the cost is spread over many triggers. */
    private void makeRoom(NearTriggers tier) {
        tier.dropCopies();
        if (tier.waiting() > tier.capacity() * 3L / 4) {
            write(tier, tier.takeLatest(tier.capacity() / 2), false);
        }
    }

    /** Moves triggers to the tree; what fails waits on. */
    private void write(NearTriggers tier, int[] slots, boolean keepCopies) {
        int written = 0;
        try {
            for (; written < slots.length; written++) {
                write(tier, slots[written], keepCopies);
            }
        } finally {
            for (; written < slots.length; written++) {
                tier.waitOn(slots[written]);
            }
        }
    }

    /** Of a slot that is not in the heap any more. */
    private void write(NearTriggers tier, int slot, boolean keepCopy) {
        log(tier, slot);
        tier.readKey(slot, moved);
        far.add(tier.timestamp(slot), moved);
        if (keepCopy) {
            tier.written(slot);
        } else {
            tier.writtenAway(slot);
        }
    }

    @Override
    public void settle() {
        pages.safepoint();
        isCleaning = false;
        queue.clear();
        if (near != null) {
            write(near, near.takeLatest(0), true);
        }
    }

    // ---------------------------------------------------------------- ahead of checkpoints

    @Override
    public void logChanges() {
        NearTriggers tier = near;
        if (tier != null && isCleaning) {
            queue.forEach(slot -> logIfWaiting(tier, (int) slot)); // to be written yet
        } else if (tier != null) {
            while (queue.size() > 0) {
                logOldest(tier);
            }
        }
    }

    private void enqueue(NearTriggers tier, int slot) {
        if (queue.isFull()) {
            logOldest(tier);
        }
        queue.add(slot, 0);
    }

    private void logOldest(NearTriggers tier) {
        logIfWaiting(tier, (int) queue.removeOldest());
    }

    private void logIfWaiting(NearTriggers tier, int slot) {
        if (tier.isWaiting(slot)) {
            log(tier, slot);
        }
    }

    private void log(NearTriggers tier, int slot) {
        if (!tier.isLogged(slot) && redo.isOn()) {
            tier.readKey(slot, moved);
            redo.triggerAdded(tier.timestamp(slot), moved);
            tier.setLogged(slot);
        }
    }

    @Override
    public void beginReplay() {
        isReplaying = true;
    }

    @Override
    public void endReplay() {
        isReplaying = false;
    }

    @Override
    public void expectSnapshot(boolean expected) {
        if (expected && !isCleaning) {
            cleanedTo = 0;
        }
        isCleaning = expected;
    }

    @Override
    public boolean isPrepared() {
        return near == null || near.waiting() <= 2 * QUEUED_WHILE_CLEANING_MAX;
    }

    private void clean(NearTriggers tier) {
        int end = Math.min(tier.end(), cleanedTo + SLOTS_PER_CLEANING_STEP);
        for (; cleanedTo < end; cleanedTo++) {
            if (tier.isWaiting(cleanedTo)) {
                writeWaiting(tier, cleanedTo);
            }
        }
        while (queue.size() > QUEUED_WHILE_CLEANING_MAX) {
            writeOldest(tier);
        }
    }

    private void writeOldest(NearTriggers tier) {
        int slot = (int) queue.removeOldest();
        if (tier.isWaiting(slot)) {
            writeWaiting(tier, slot);
        }
    }

    private void writeWaiting(NearTriggers tier, int slot) {
        tier.take(slot);
        write(tier, new int[] {slot}, true);
    }

    @Override
    public void giveBack() {
        if (memory.isTooLarge()) {
            settle();
            near = null;
            memory.giveBack();
        }
    }

    // ---------------------------------------------------------------- the whole

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        settle();
        return far.scan(firstKeyGroup, lastKeyGroup);
    }

    @Override
    public String shape() {
        return "triggers";
    }

    @Override
    public void load(DataInput in) throws IOException {
        far.load(in);
    }

    @Override
    public FrozenState freeze(PageSource snapshot) {
        return far.freeze(snapshot);
    }

    @Override
    public void free() {
        close();
        far.free();
    }

    @Override
    public void close() {
        near = null;
        queue.clear();
        memory.end();
    }
}
