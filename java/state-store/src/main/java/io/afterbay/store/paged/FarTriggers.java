package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateKey;
import io.afterbay.store.StateKind;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.Trigger;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.tree.Chains;
import io.afterbay.store.tree.EntryKey;
import io.afterbay.store.tree.KeyCopy;
import io.afterbay.store.tree.Tree;
import java.io.DataInput;
import java.io.IOException;
import java.util.List;

/**
 * Triggers in a tree, by key group, then timestamp; a small heap over the key groups knows whose
 * turn is next. So triggers of one timestamp come key group by key group, as aligned windows are
 * read, and a snapshot finds each key group in one place. Each method passes a safepoint first.
 */
final class FarTriggers {
    private final PageStore pages;
    private final Tree tree;
    private final TriggerHeads heads;
    private final EntryKey entry = new EntryKey();

    /** Key of the first trigger, if that is known. */
    private final KeyCopy head = new KeyCopy();

    private boolean isHeadKnown;

    FarTriggers(PageStore pages, Chains chains, StoreOptions options) {
        this.pages = pages;
        tree = new Tree(pages, chains, true);
        heads = new TriggerHeads(options.firstKeyGroup(), options.lastKeyGroup());
    }

    boolean add(long timestamp, StateKey key) {
        pages.safepoint();
        if (!tree.add(entry.trigger(timestamp, key))) {
            return false;
        }
        isHeadKnown = false;
        heads.add(key.keyGroup(), timestamp);
        return true;
    }

    boolean remove(long timestamp, StateKey key) {
        pages.safepoint();
        if (!heads.mayHold(key.keyGroup(), timestamp)
                || !tree.remove(entry.trigger(timestamp, key))) {
            return false;
        }
        if (timestamp == heads.firstTimestamp(key.keyGroup())) {
            findHead(key.keyGroup());
        }
        return true;
    }

    private void findHead(int keyGroup) {
        isHeadKnown = false;
        pages.safepoint();
        if (findFirst(keyGroup)) {
            heads.set(keyGroup, tree.timestamp());
        } else {
            heads.remove(keyGroup);
        }
    }

    private boolean findFirst(int keyGroup) {
        long first = (long) keyGroup << 48;
        return tree.findFirst(first, first | -1L >>> 16);
    }

    boolean contains(long timestamp, StateKey key) {
        pages.safepoint();
        return heads.mayHold(key.keyGroup(), timestamp) && tree.find(entry.trigger(timestamp, key));
    }

    boolean isEmpty() {
        return heads.isEmpty();
    }

    /** Of the first trigger; there must be one. */
    int firstKeyGroup() {
        return heads.first();
    }

    /** Of the first trigger; there must be one. */
    long firstTimestamp() {
        return heads.firstTimestamp(heads.first());
    }

    /** The key of the first trigger; there must be one. Overwritten when another one is first. */
    StateKey firstKey() {
        if (!isHeadKnown) {
            readHead();
        }
        return head.key();
    }

    private void readHead() {
        pages.safepoint();
        if (!findFirst(heads.first())) {
            throw new IllegalStateException("key group " + heads.first() + " has no trigger");
        }
        tree.readKey(head);
        isHeadKnown = true;
    }

    boolean peek(Trigger into) {
        pages.safepoint();
        if (heads.isEmpty()) {
            return false;
        }
        into.set(firstTimestamp(), firstKey());
        return true;
    }

    /** Adds copies of triggers that fire soon, in no order, the first one included. */
    void addUpcoming(int max, List<Trigger> to) {
        int[] keyGroups = heads.upcoming(max);
        for (int keyGroup : keyGroups) {
            addFirstOf(keyGroup, 1 + 2 * max / keyGroups.length, to);
        }
    }

    private void addFirstOf(int keyGroup, int max, List<Trigger> to) {
        try (EntryCursor triggers = scan(keyGroup, keyGroup)) {
            for (int i = 0; i < max && triggers.next(); i++) {
                to.add(Trigger.copyOf(triggers.timestamp(), triggers.key()));
            }
        }
    }

    boolean poll(Trigger into) {
        if (!peek(into)) {
            return false;
        }
        pages.safepoint();
        tree.remove(entry.trigger(into.timestamp(), into.key()));
        findHead(into.key().keyGroup());
        return true;
    }

    long size() {
        return tree.size();
    }

    EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        return PagedValues.scan(
                tree, pages, FrozenState.Content.TRIGGERS, firstKeyGroup, lastKeyGroup);
    }

    FrozenState freeze(PageSource snapshot) {
        return new FrozenState(StateKind.TRIGGERS, tree.freeze(snapshot), null, heads.copy());
    }

    void load(DataInput in) throws IOException {
        tree.load(in);
        heads.load(in);
    }

    void free() {
        isHeadKnown = false;
        tree.clear();
    }
}
