package io.afterbay.flink.snapshot;

import io.afterbay.flink.state.StateShape;
import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.io.IOException;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.CompositeKeySerializationUtils;
import org.apache.flink.util.MathUtils;

/**
 * Entries of the store in canonical form. Nothing is deserialised: keys, namespaces and values are
 * stored as their serializers wrote them, and the canonical form only arranges them.
 */
final class CanonicalStoreEntries implements CanonicalEntries {
    private static final byte[] EMPTY = new byte[0];
    private static final byte DELIMITER = ',';

    private final StateImage state;
    private final EntryCursor cursor;
    private final int keyGroup;
    private final int prefixBytes;
    private final DataOutputSerializer out = new DataOutputSerializer(128);
    private final Slice element = new Slice();
    private byte[] key = EMPTY;
    private byte[] value = EMPTY;

    CanonicalStoreEntries(StateImage state, EntryCursor cursor, int keyGroup, int prefixBytes) {
        this.state = state;
        this.cursor = cursor;
        this.keyGroup = keyGroup;
        this.prefixBytes = prefixBytes;
    }

    @Override
    public boolean next() throws IOException {
        while (cursor.next()) {
            if (convert()) {
                return true;
            }
        }
        return false;
    }

    /** False if the entry has expired. */
    private boolean convert() throws IOException {
        switch (state.shape()) {
            case VALUE, MAP -> {
                if (state.expired(cursor.value())) {
                    return false;
                }
                value = cursor.value().toByteArray();
            }
            case LIST -> {
                value = join(cursor.list());
                if (value.length == 0) {
                    return false;
                }
            }
            case TRIGGERS -> value = EMPTY;
            default -> throw new IllegalStateException("no entries in " + state.shape());
        }
        key = canonicalKey();
        return true;
    }

    private byte[] join(ListReader list) throws IOException {
        CanonicalLimit.check(CanonicalLimit.joinedBytes(list), state.name(), keyGroup);
        out.clear();
        ListReader.Elements elements = list.elements();
        boolean first = true;
        while (elements.next(element)) {
            if (!state.expired(element)) {
                if (!first) {
                    out.writeByte(DELIMITER);
                }
                first = false;
                out.write(element.array(), 0, element.length());
            }
        }
        return out.getCopyOfBuffer();
    }

    private byte[] canonicalKey() throws IOException {
        out.clear();
        CompositeKeySerializationUtils.writeKeyGroup(keyGroup, prefixBytes, out);
        if (state.shape() == StateShape.TRIGGERS) {
            out.writeLong(MathUtils.flipSignBit(cursor.timestamp()));
        }
        StateKey at = cursor.key();
        writePart(at.bytes(), 0, at.keyLength());
        writePart(at.bytes(), at.keyLength(), at.namespaceLength());
        if (state.shape() == StateShape.MAP) {
            out.write(cursor.userKey().array(), 0, cursor.userKey().length());
        }
        return out.getCopyOfBuffer();
    }

    /** A part followed by its length, where key and namespace could be confused otherwise. */
    private void writePart(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
        if (state.ambiguous()) {
            CompositeKeySerializationUtils.writeVariableIntBytes(length, out);
        }
    }

    @Override
    public byte[] key() {
        return key;
    }

    @Override
    public byte[] value() {
        return value;
    }

    @Override
    public void close() {
        cursor.close();
    }
}
