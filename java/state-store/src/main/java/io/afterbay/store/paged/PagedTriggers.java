package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.StateKey;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.Trigger;
import io.afterbay.store.TriggerSchedule;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.tree.Chains;
import io.afterbay.store.tree.EntryKey;
import io.afterbay.store.tree.KeyCopy;
import io.afterbay.store.tree.Tree;

/**
 * Triggers in a tree, by key group, then timestamp; a small heap over the key groups knows whose
 * turn is next. So triggers of one timestamp come key group by key group, as aligned windows are
 * read, and a snapshot finds each key group in one place.
 */
final class PagedTriggers implements TriggerSchedule, State {
    private final PageStore pages;
    private final Tree tree;
    private final TriggerHeads heads;
    private final EntryKey entry = new EntryKey();
    private final KeyCopy head = new KeyCopy();

    PagedTriggers(PageStore pages, Chains chains, StoreOptions options) {
        this.pages = pages;
        tree = new Tree(pages, chains, true);
        heads = new TriggerHeads(options.firstKeyGroup(), options.lastKeyGroup());
    }

    @Override
    public boolean add(long timestamp, StateKey key) {
        pages.safepoint();
        if (!tree.add(entry.trigger(timestamp, key))) {
            return false;
        }
        int keyGroup = key.keyGroup();
        if (!heads.contains(keyGroup) || timestamp < heads.firstTimestamp(keyGroup)) {
            heads.set(keyGroup, timestamp);
        }
        return true;
    }

    @Override
    public boolean remove(long timestamp, StateKey key) {
        pages.safepoint();
        if (!tree.remove(entry.trigger(timestamp, key))) {
            return false;
        }
        if (timestamp == heads.firstTimestamp(key.keyGroup())) {
            findHead(key.keyGroup());
        }
        return true;
    }

    private void findHead(int keyGroup) {
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

    @Override
    public boolean contains(long timestamp, StateKey key) {
        pages.safepoint();
        return tree.find(entry.trigger(timestamp, key));
    }

    @Override
    public boolean peek(Trigger into) {
        pages.safepoint();
        if (heads.isEmpty()) {
            return false;
        }
        if (!findFirst(heads.first())) {
            throw new IllegalStateException("key group " + heads.first() + " has no trigger");
        }
        tree.readKey(head);
        into.set(head.timestamp(), head.key());
        return true;
    }

    @Override
    public boolean poll(Trigger into) {
        if (!peek(into)) {
            return false;
        }
        pages.safepoint();
        tree.remove(entry.trigger(into.timestamp(), into.key()));
        findHead(into.key().keyGroup());
        return true;
    }

    @Override
    public long size() {
        return tree.size();
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        return PagedValues.scan(
                tree, pages, FrozenState.Kind.TRIGGERS, firstKeyGroup, lastKeyGroup);
    }

    @Override
    public String shape() {
        return "triggers";
    }

    @Override
    public FrozenState freeze(PageSource snapshot) {
        return FrozenState.of(FrozenState.Kind.TRIGGERS, tree.freeze(snapshot));
    }

    @Override
    public void free() {
        tree.clear();
    }
}
