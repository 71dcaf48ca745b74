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
 * are long are in the tree only.
 */
final class PagedTriggers implements TriggerSchedule, State {
    private final PageStore pages;
    private final FarTriggers far;
    private final NearMemory memory;
    private @Nullable NearTriggers near;
    private final StateKey moved = new StateKey();

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
        far = new FarTriggers(pages, chains, options, redo);
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
        if (far.contains(timestamp, key)) {
            keepCopy(timestamp, key);
            return false;
        }
        NearTriggers tier = tierFor(key);
        if (tier == null) {
            return far.add(timestamp, key);
        }
        tier.addWaiting(timestamp, key);
        return true;
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
            return far.remove(timestamp, key);
        }
        if (near.isCopy(slot)) {
            far.remove(timestamp, key);
        }
        near.remove(slot);
        return true;
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
        first.remove(slot);
        return true;
    }

    private boolean pollFar(Trigger into) {
        if (!far.poll(into)) {
            return false;
        }
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

    private void write(NearTriggers tier, int slot, boolean keepCopy) {
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
        if (near != null) {
            write(near, near.takeLatest(0), true);
        }
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
        memory.end();
    }
}
