package io.afterbay.flink.state;

import io.afterbay.store.EntryCursor;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * An iterator over a cursor of the store. The cursor is closed at its end, or when the operator
 * moves to another key: users abandon iterators half-way, and iterators cannot be closed.
 */
abstract class CursorIterator<E> implements Iterator<E> {
    private final String state;
    private final CurrentKey<?> currentKey;
    private final EntryCursor cursor;
    private final long version;
    private boolean onEntry;
    private boolean ended;
    private @Nullable E returned;

    CursorIterator(String state, CurrentKey<?> currentKey, EntryCursor cursor) {
        this.state = state;
        this.currentKey = currentKey;
        this.cursor = currentKey.closeOnChange(cursor);
        this.version = currentKey.version();
    }

    /** The element at the cursor; must not refer to the cursor. */
    abstract E element(EntryCursor at);

    abstract void remove(E element);

    @Override
    public boolean hasNext() {
        if (!onEntry && !ended) {
            advance();
        }
        return onEntry;
    }

    private void advance() {
        if (version != currentKey.version()) {
            throw new IllegalStateException(
                    "an iterator of state '%s' was made under another key; iterate within one call"
                            .formatted(state));
        }
        currentKey.beginAccess();
        onEntry = cursor.next();
        if (!onEntry) {
            ended = true;
            currentKey.closed(cursor);
        }
    }

    @Override
    public E next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        onEntry = false;
        E element = element(cursor);
        returned = element;
        return element;
    }

    @Override
    public void remove() {
        if (returned == null) {
            throw new IllegalStateException("next() comes before remove()");
        }
        remove(returned);
        returned = null;
    }
}
