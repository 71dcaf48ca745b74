package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.StateKey;

/** The entries of one cursor, then those of another. */
final class ConcatenatedCursor extends ListEntryCursor {
    private EntryCursor current;
    private final EntryCursor last;

    ConcatenatedCursor(EntryCursor first, EntryCursor last) {
        current = first;
        this.last = last;
    }

    @Override
    public boolean next() {
        if (current.next()) {
            return true;
        }
        if (current == last) {
            return false;
        }
        current = last;
        return current.next();
    }

    @Override
    public StateKey key() {
        return current.key();
    }

    @Override
    public ListReader list() {
        return current.list();
    }
}
