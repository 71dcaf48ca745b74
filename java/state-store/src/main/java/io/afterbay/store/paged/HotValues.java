package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.ValueStore;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.redo.RedoLog;
import java.io.DataInput;
import java.io.IOException;

/** Values in the {@link HotEntries hot tier}, in front of those in a tree. */
final class HotValues extends HotHome implements ValueStore, State {
    private final PagedValues cold;
    private final HotEntries hot;
    private final RedoLog.OfState redo;

    HotValues(PagedValues cold, HotEntries hot, RedoLog.OfState redo) {
        this.cold = cold;
        this.hot = hot;
        this.redo = redo;
        hot.register(this);
    }

    @Override
    public boolean get(StateKey key, Slice into) {
        hot.prepare();
        long record = hot.findForRead(this, key);
        if (record == 0) {
            return getCold(key, into);
        }
        if (HotRecord.has(record, HotRecord.ABSENT)) {
            return false;
        }
        HotRecord.readValue(record, into);
        return true;
    }

    private boolean getCold(StateKey key, Slice into) {
        boolean found = cold.get(key, into);
        if (!found && hot.admitsAgain(this, key, 0)) {
            hot.insert(this, key, HotRecord.ABSENT, 0);
        } else if (found && hot.admitsAgain(this, key, into.length())) {
            long record = hot.insert(this, key, HotRecord.STORED, into.length());
            HotRecord.writeValue(record, into.array(), 0, into.length());
        }
        return found;
    }

    @Override
    public void put(StateKey key, byte[] value, int offset, int length) {
        hot.prepare();
        long record = hot.find(this, key);
        if (length > HotRecord.VALUE_BYTES_MAX
                || record == 0 && !hot.admitsAgain(this, key, length)) {
            putCold(record, key, value, offset, length);
            return;
        }
        if (record == 0) {
            record = hot.insert(this, key, HotRecord.STORED, length);
        }
        record = hot.grow(this, key, record, length);
        HotRecord.writeValue(record, value, offset, length);
        hot.changed(record, HotRecord.DIRTY | HotRecord.flags(record) & HotRecord.STORED);
        usualValueBytes = length;
    }

    private void putCold(long record, StateKey key, byte[] value, int offset, int length) {
        if (record != 0) {
            hot.discard(this, record);
        }
        cold.put(key, value, offset, length);
        redo.valuePut(key, value, offset, length);
    }

    @Override
    public boolean remove(StateKey key) {
        hot.prepare();
        long record = hot.find(this, key);
        if (record == 0) {
            return removeCold(key);
        }
        boolean present = !HotRecord.has(record, HotRecord.ABSENT);
        hot.makeAbsent(record);
        return present;
    }

    private boolean removeCold(StateKey key) {
        if (hot.isReplaying() && hot.admits(key, 0)) {
            hot.makeAbsent(hot.insert(this, key, HotRecord.STORED, 0));
            return true;
        }
        boolean present = cold.remove(key);
        if (present) {
            redo.valueRemoved(key);
        }
        return present;
    }

    @Override
    void log(StateKey key, int flags, int loggedBytes, Slice value) {
        if ((flags & HotRecord.ABSENT) == 0) {
            redo.valuePut(key, value.array(), 0, value.length());
        } else {
            redo.valueRemoved(key);
        }
    }

    @Override
    void settle(StateKey key, int flags, Slice value) {
        if ((flags & HotRecord.ABSENT) == 0) {
            cold.put(key, value.array(), 0, value.length());
        } else {
            cold.remove(key);
        }
    }

    @Override
    public EntryCursor scan(int firstKeyGroup, int lastKeyGroup) {
        hot.evacuate(this);
        return cold.scan(firstKeyGroup, lastKeyGroup, () -> hot.evacuate(this));
    }

    @Override
    public String shape() {
        return cold.shape();
    }

    @Override
    public void load(DataInput in) throws IOException {
        cold.load(in);
    }

    @Override
    public FrozenState freeze(PageSource snapshot) {
        return cold.freeze(snapshot);
    }

    @Override
    public void free() {
        hot.forget(this);
        cold.free();
    }

    @Override
    public void giveBack() {
        cold.giveBack();
    }

    @Override
    public void close() {
        cold.close();
    }
}
