package io.afterbay.flink.state;

import io.afterbay.store.EntryCursor;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * An iterator over the entries that a cursor of the store walks. It belongs to the key and
 * namespace under which it was made, whatever the current ones are when it goes on: PyFlink's
 * runner fetches large maps in batches, and works under other keys between them. Users abandon
 * iterators half-way and cannot close them, so the cursor must be one that holds nothing.
 */
abstract class CursorIterator<E> implements Iterator<E> {
    private final CurrentKey<?> currentKey;
    private final EntryCursor cursor;
    private boolean onEntry;
    private boolean ended;
    private @Nullable E returned;

    CursorIterator(CurrentKey<?> currentKey, EntryCursor cursor) {
        this.currentKey = currentKey;
        this.cursor = cursor;
    }

    /** The element at the cursor; must not refer to the cursor. */
    abstract E element(EntryCursor at);

    abstract void remove(E element);

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
    public E next() {
        currentKey.beginAccess();
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
        currentKey.beginAccess();
        if (returned == null) {
            throw new IllegalStateException("next() comes before remove()");
        }
        remove(returned);
        returned = null;
    }
}
