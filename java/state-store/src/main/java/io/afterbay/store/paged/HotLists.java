package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.Varint;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.redo.RedoLog;
import java.io.DataInput;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Short lists in the {@link HotEntries hot tier}, in front of those in a tree. A list that outgrows
 * the tier goes to the tree, and what is appended to it later waits here to be written in one go.
 */
final class HotLists extends HotHome implements ListState {
    private static final int USUAL_BYTES_MAX = 512;

    private final PagedLists cold;
    private final HotEntries hot;
    private final RedoLog.OfState redo;
    private final Slice framed = new Slice();

    HotLists(PagedLists cold, HotEntries hot, RedoLog.OfState redo) {
        this.cold = cold;
        this.hot = hot;
        this.redo = redo;
        hot.register(this);
    }

    @Override
    public void append(StateKey key, byte[] element, int offset, int length) {
        hot.prepare();
        long record = hot.findForRead(this, key);
        int before = record == 0 ? 0 : HotRecord.valueLength(record);
        int after = before + Varint.bytes(length) + length;
        if (length > HotRecord.VALUE_BYTES_MAX
                || after > HotRecord.VALUE_BYTES_MAX
                || record == 0 && !hot.admits(key, after)) {
            appendCold(record, key, element, offset, length);
            return;
        }
        if (record == 0) {
            record = insert(key, after);
        }
        append(hot.grow(this, key, record, after), element, offset, length);
    }

    private void appendCold(long record, StateKey key, byte[] element, int offset, int length) {
        if (record != 0) {
            hot.sendHome(this, record);
        }
        cold.append(key, element, offset, length);
    }

    private long insert(StateKey key, int valueBytes) {
        boolean stored = hot.isReplaying() || cold.contains(key);
        return hot.insert(this, key, stored ? HotRecord.STORED | HotRecord.PARTIAL : 0, valueBytes);
    }

    private void append(long record, byte[] element, int offset, int length) {
        byte[] bytes = framed.reset(Varint.MAX_BYTES + length);
        int at = Varint.write(length, bytes, 0);
        System.arraycopy(element, offset, bytes, at, length);
        HotRecord.appendValue(record, bytes, 0, at + length);
        int flags = HotRecord.flags(record) & ~(HotRecord.ABSENT | HotRecord.LOGGED);
        hot.changed(record, flags | HotRecord.DIRTY);
    }

    @Override
    public @Nullable ListReader get(StateKey key) {
        hot.prepare();
        long record = hot.findForRead(this, key);
        if (record != 0 && HotRecord.has(record, HotRecord.PARTIAL)) {
            hot.sendHome(this, record);
            record = 0;
        }
        if (record == 0) {
            return getCold(key);
        }
        if (HotRecord.has(record, HotRecord.ABSENT)) {
            return null;
        }
        HotRecord.readValue(record, framed);
        return InlineListReader.of(framed.toByteArray());
    }

    @Override
    public int readAhead(List<StateKey> keys) {
        return cold.readAhead(keys);
    }

    private @Nullable ListReader getCold(StateKey key) {
        ListReader found = cold.get(key);
        if (found == null && hot.admits(key, 0)) {
            hot.insert(this, key, HotRecord.ABSENT, 0);
        } else if (found instanceof InlineListReader list
                && hot.admits(key, list.framed().length)) {
            int length = list.framed().length;
            long record = hot.insert(this, key, HotRecord.STORED, length);
            HotRecord.writeValue(record, list.framed(), 0, length);
            HotRecord.setLoggedBytes(record, length);
        }
        return found;
    }

    @Override
    public boolean clear(StateKey key) {
        hot.prepare();
        long record = hot.find(this, key);
        if (record == 0) {
            return clearCold(key);
        }
        boolean present = !HotRecord.has(record, HotRecord.ABSENT);
        expect(HotRecord.valueLength(record));
        hot.makeAbsent(record);
        return present;
    }

    private boolean clearCold(StateKey key) {
        if (hot.isReplaying() && hot.admits(key, 0)) {
            hot.makeAbsent(hot.insert(this, key, HotRecord.STORED, 0));
            return true;
        }
        boolean present = cold.clearUnlogged(key);
        if (present) {
            redo.listCleared(key);
        }
        return present;
    }

    /** The next list will probably be as long: a record that need not grow is not copied. */
    private void expect(int valueBytes) {
        usualValueBytes = Math.min(USUAL_BYTES_MAX, valueBytes);
    }

    @Override
    public void merge(StateKey target, StateKey source) {
        hot.prepare();
        sendHome(target);
        sendHome(source);
        cold.merge(target, source);
    }

    private void sendHome(StateKey key) {
        long record = hot.find(this, key);
        if (record != 0) {
            hot.sendHome(this, record);
        }
    }

    @Override
    void log(StateKey key, int flags, int loggedBytes, Slice value) {
        if (replaces(flags) && loggedBytes == 0) {
            redo.listCleared(key);
        }
        if ((flags & HotRecord.ABSENT) == 0) {
            redo.listAppendedFramed(key, value.array(), loggedBytes, value.length() - loggedBytes);
        }
    }

    @Override
    void settle(StateKey key, int flags, Slice value) {
        if (replaces(flags)) {
            cold.clearUnlogged(key);
        }
        if ((flags & HotRecord.ABSENT) == 0) {
            expect(value.length());
            cold.appendUnlogged(key, value.array(), value.length());
        }
    }

    private static boolean replaces(int flags) {
        return (flags & (HotRecord.STORED | HotRecord.PARTIAL)) == HotRecord.STORED;
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
}
