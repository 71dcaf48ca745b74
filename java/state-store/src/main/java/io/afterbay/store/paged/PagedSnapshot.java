package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StoreImage;
import io.afterbay.store.StoreSnapshot;
import io.afterbay.store.page.PageSnapshot;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;

/** All states of a store as they were at one moment. */
final class PagedSnapshot implements StoreSnapshot {
    private final PageSnapshot pages;
    private final Map<String, FrozenState> states;
    private final ImageIndex index;

    PagedSnapshot(PageSnapshot pages, Map<String, FrozenState> states, ImageIndex index) {
        this.pages = pages;
        this.states = states;
        this.index = index;
    }

    @Override
    public StoreImage image(OutputStream to) throws IOException {
        return index.write(pages, states, to);
    }

    @Override
    public EntryCursor entries(String state, int keyGroup) {
        FrozenState frozen = states.get(state);
        return frozen == null
                ? Empty.CURSOR
                : new GuardedCursor(pages.reading, frozen.entries(keyGroup));
    }

    @Override
    public EntryCursor fragments(String state, int keyGroup) {
        FrozenState frozen = states.get(state);
        return frozen == null
                ? Empty.CURSOR
                : new GuardedCursor(pages.reading, frozen.fragments(keyGroup));
    }

    @Override
    public void upcoming(int triggersMax, Places to) {
        new UpcomingPlaces(pages, states.values()).tell(triggersMax, to);
    }

    @Override
    public void close() {
        pages.close();
    }

    /** A cursor without entries. */
    private static final class Empty extends ListEntryCursor {
        static final EntryCursor CURSOR = new Empty();

        @Override
        public boolean next() {
            return false;
        }

        @Override
        public StateKey key() {
            throw new IllegalStateException("there is no entry");
        }

        @Override
        public Slice value() {
            throw new IllegalStateException("there is no entry");
        }

        @Override
        public ListReader list() {
            throw new IllegalStateException("there is no entry");
        }
    }
}
