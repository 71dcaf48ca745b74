package io.afterbay.store.paged;

import io.afterbay.store.StateKey;
import io.afterbay.store.StateKind;
import io.afterbay.store.StoreSnapshot.Places;
import io.afterbay.store.page.PageSnapshot;
import io.afterbay.store.tree.LeafFinder;
import io.afterbay.store.tree.TreeCursor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Where on disk lies what the next triggers will need. Of each trigger, in the order in which they
 * fire: the leaf of its key in each state, found by inner pages alone, and the log of its window.
 *
 * <p>The namespace under which a state is kept need not be the trigger's. If that of a state's
 * first entry is as long, it is taken to be (windows); else all entries are taken to have that of
 * the first (none). A wrong guess is a page that comes sooner than it had to.
 */
final class UpcomingPlaces {
    private final PageSnapshot pages;
    private final List<Content> contents = new ArrayList<>();
    private final PriorityQueue<Group> groups = new PriorityQueue<>();
    private final StateKey key = new StateKey();

    /** A state that triggers read. */
    private record Content(FrozenState state, @Nullable LeafFinder leaves) {}

    /** Triggers of a key group, from the next one on. */
    private static final class Group implements Comparable<Group> {
        final int keyGroup;
        final TreeCursor cursor;

        /** Of the trigger at the cursor, or of the one before it. */
        long timestamp;

        /** Whether the trigger at the cursor has been, or there is none yet. */
        boolean isPassed = true;

        Group(FrozenState state, int keyGroup, long timestamp) {
            this.keyGroup = keyGroup;
            this.timestamp = timestamp;
            long base = (long) keyGroup << 48;
            cursor = new TreeCursor(state.tree(), base, base | -1L >>> 16);
        }

        @Override
        public int compareTo(Group other) {
            int order = Long.compare(timestamp, other.timestamp);
            return order != 0 ? order : Integer.compare(keyGroup, other.keyGroup);
        }
    }

    UpcomingPlaces(PageSnapshot pages, Collection<FrozenState> states) {
        this.pages = pages;
        for (FrozenState state : states) {
            TriggerHeads heads = state.heads();
            if (heads != null) {
                heads.forEach((keyGroup, time) -> groups.add(new Group(state, keyGroup, time)));
            } else {
                boolean isEmpty = state.tree().root() == 0;
                contents.add(new Content(state, isEmpty ? null : new LeafFinder(state.tree())));
            }
        }
    }

    /** Goes through the next triggers, so many at most, until nobody wants to know more. */
    void tell(int triggersMax, Places to) {
        boolean isWanted = true;
        for (int i = 0; i < triggersMax && isWanted; i++) {
            pages.reading.lock(); // so that nobody closes the snapshot during a step
            try {
                StateKey trigger = nextTrigger();
                isWanted = trigger != null && tellOf(trigger, to);
            } finally {
                pages.reading.unlock();
            }
        }
    }

    private @Nullable StateKey nextTrigger() {
        for (Group group = groups.poll(); group != null; group = groups.poll()) {
            if (!group.isPassed) {
                group.isPassed = true;
                groups.add(group);
                return group.cursor.key();
            }
            if (group.cursor.next()) {
                group.timestamp = group.cursor.timestamp();
                group.isPassed = false;
                groups.add(group); // others may come before it now
            }
        }
        return null;
    }

    private boolean tellOf(StateKey trigger, Places to) {
        for (Content content : contents) {
            LeafFinder leaves = content.leaves;
            boolean isWanted =
                    (leaves == null || tellPage(leaves.leafOf(keyIn(leaves, trigger)), to))
                            && tellOfLog(content.state, trigger, to);
            if (!isWanted) {
                return false;
            }
        }
        return true;
    }

    private StateKey keyIn(LeafFinder leaves, StateKey trigger) {
        StateKey first = leaves.first();
        StateKey namespace = first.namespaceLength() == trigger.namespaceLength() ? trigger : first;
        key.setKey(trigger.keyGroup(), trigger.bytes(), 0, trigger.keyLength());
        return key.setNamespace(
                namespace.bytes(), namespace.keyLength(), namespace.namespaceLength());
    }

    private boolean tellOfLog(FrozenState state, StateKey trigger, Places to) {
        if (state.kind() != StateKind.ALIGNED_LISTS || state.logs() == null) {
            return true;
        }
        AppendLogs.Log log = AppendLogs.find(state.logs(), trigger);
        return log == null || tellPage(log.chain.head, to);
    }

    private boolean tellPage(int pageId, Places to) {
        return pages.tellPlace(pageId, to);
    }
}
