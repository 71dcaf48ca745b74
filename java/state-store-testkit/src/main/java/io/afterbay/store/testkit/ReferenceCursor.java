package io.afterbay.store.testkit;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A cursor over rows. Strict: whatever the interface does not allow throws. */
final class ReferenceCursor implements EntryCursor {
    private final Iterator<Row> rows;
    private final BooleanSupplier open;
    private final StateKey key = new StateKey();
    private final Slice userKey = new Slice(0);
    private final Slice value = new Slice(0);
    private @Nullable Row row;
    private int moves;
    private boolean closed;

    /**
     * @param rows may read the state as late as it likes
     * @param open whether what the rows come from can still be read
     */
    ReferenceCursor(Iterator<Row> rows, BooleanSupplier open) {
        this.rows = rows;
        this.open = open;
    }

    @Override
    public boolean next() {
        checkOpen();
        moves++;
        row = rows.hasNext() ? rows.next() : null;
        return row != null;
    }

    @Override
    public StateKey key() {
        Row present = row();
        present.address().copyTo(key, present.keyGroup());
        return key;
    }

    @Override
    public Slice userKey() {
        return fill(userKey, bytesOf(row().userKey()));
    }

    @Override
    public Slice value() {
        return fill(value, row().value());
    }

    @Override
    public ListReader list() {
        var list = row().list();
        if (list == null) {
            throw new UnsupportedOperationException("not an entry of a list state");
        }
        int move = moves;
        return new ReferenceListReader(list, () -> open.getAsBoolean() && !closed && move == moves);
    }

    @Override
    public long timestamp() {
        return row().timestamp();
    }

    @Override
    public void close() {
        closed = true;
        row = null;
    }

    private Row row() {
        checkOpen();
        if (row == null) {
            throw new NoSuchElementException("the cursor stands on no entry");
        }
        return row;
    }

    private void checkOpen() {
        if (closed || !open.getAsBoolean()) {
            throw new IllegalStateException("the cursor, or what it reads, is closed");
        }
    }

    private static byte @Nullable [] bytesOf(@Nullable Bytes bytes) {
        return bytes == null ? null : bytes.array();
    }

    private static Slice fill(Slice slice, byte @Nullable [] bytes) {
        if (bytes == null) {
            throw new UnsupportedOperationException("entries of this state do not have that field");
        }
        slice.set(bytes, 0, bytes.length);
        return slice;
    }
}
