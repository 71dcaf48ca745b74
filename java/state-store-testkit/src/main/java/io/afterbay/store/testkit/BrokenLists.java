package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.ListStore;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

final class BrokenLists implements ListStore {
    private final BrokenStore broken;
    private final ListStore lists;

    BrokenLists(BrokenStore broken, ListStore lists) {
        this.broken = broken;
        this.lists = lists;
    }

    @Override
    public void append(StateKey key, byte[] element, int offset, int length) {
        if (!broken.strikes(Defect.DROPS_APPENDS)) {
            lists.append(key, element, offset, length);
        }
    }

    @Override
    public @Nullable ListReader get(StateKey key) {
        ListReader reader = lists.get(key);
        return reader != null && broken.strikes(Defect.READERS_FOLLOW_CHANGES)
                ? new LiveReader(Place.of(key).toKey(), reader)
                : reader;
    }

    @Override
    public boolean clear(StateKey key) {
        return broken.strikes(Defect.FORGETS_CLEARS) ? lists.get(key) != null : lists.clear(key);
    }

    @Override
    public void merge(StateKey target, StateKey source) {
        if (Place.of(target).equals(Place.of(source))) {
            return;
        }
        if (broken.strikes(Defect.LOSES_MERGES)) {
            lists.clear(source);
        } else if (broken.strikes(Defect.KEEPS_MERGED_SOURCES)) {
            copy(source, target);
        } else {
            lists.merge(target, source);
        }
    }

    private void copy(StateKey source, StateKey target) {
        Slice element = new Slice();
        ListReader reader = lists.get(source);
        ListReader.Elements elements = reader == null ? into -> false : reader.elements();
        while (elements.next(element)) {
            lists.append(target, element.array(), 0, element.length());
        }
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        return lists.scan(firstKeyGroup, lastKeyGroup);
    }

    /** Reads anew whenever it is asked. */
    private final class LiveReader implements ListReader {
        private final StateKey key;
        private final ListReader before;

        LiveReader(StateKey key, ListReader before) {
            this.key = key;
            this.before = before;
        }

        private ListReader now() {
            return Objects.requireNonNullElse(lists.get(key), before);
        }

        @Override
        public long bytes() {
            return now().bytes();
        }

        @Override
        public long size() {
            return now().size();
        }

        @Override
        public Elements elements() {
            return now().elements();
        }
    }
}
