package io.afterbay.store.redo;

import io.afterbay.store.StateKey;
import io.afterbay.store.StateKind;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.Varint;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Writes the redo log of a store. States write where their changes reach pages: a value that
 * changes a thousand times in the hot tier is one record, and one that lives and dies there is
 * none.
 *
 * <p>Records are collected in a chunk, which is handed to the {@link RedoSink} when it is full and
 * at {@link #flush}. Off until {@link #start}; then a change costs a test of a field. Used by the
 * store's owner only.
 */
public final class RedoLog {
    /** Full chunks are about this long; longer only if one record is. */
    static final int CHUNK_BYTES = 64 << 10;

    /** What a JVM can allocate. */
    private static final int ARRAY_BYTES_MAX = Integer.MAX_VALUE - 8;

    /** Op, state, key group, lengths of key and namespace. */
    private static final int HEAD_BYTES_MAX = 1 + 4 * Varint.MAX_BYTES;

    private @Nullable RedoSink sink;
    private byte[] chunk = new byte[0];
    private int used;
    private int chunkNumber;
    private int declared;

    /** The changes of one state; obtained from {@link #state}. */
    public final class OfState {
        private final byte[] name;
        private final StateKind kind;
        private int declaredInChunk = -1;
        private int number;

        private OfState(String name, StateKind kind) {
            this.name = name.getBytes(StandardCharsets.UTF_8);
            this.kind = kind;
        }

        /** Whether somebody wants to hear of changes. */
        public boolean isOn() {
            return RedoLog.this.isOn();
        }

        public void valuePut(StateKey key, byte[] value, int offset, int length) {
            if (isOn()) {
                begin(this, RedoOp.VALUE_PUT, key, Varint.MAX_BYTES + (long) length);
                sized(value, offset, length);
            }
        }

        public void valueRemoved(StateKey key) {
            keyOnly(RedoOp.VALUE_REMOVE, key);
        }

        /** Appended one element. */
        public void listAppended(StateKey key, byte[] element, int offset, int length) {
            if (isOn()) {
                begin(this, RedoOp.LIST_APPEND, key, 2 * Varint.MAX_BYTES + (long) length);
                number(Varint.bytes(length) + length);
                sized(element, offset, length);
            }
        }

        /** Appended elements, each with its length (varint) before it. */
        public void listAppendedFramed(StateKey key, byte[] framed, int offset, int length) {
            if (isOn()) {
                begin(this, RedoOp.LIST_APPEND, key, Varint.MAX_BYTES + (long) length);
                sized(framed, offset, length);
            }
        }

        public void listCleared(StateKey key) {
            keyOnly(RedoOp.LIST_CLEAR, key);
        }

        public void listMerged(StateKey target, StateKey source) {
            if (isOn()) {
                begin(this, RedoOp.LIST_MERGE, target, HEAD_BYTES_MAX + (long) source.length());
                key(source);
            }
        }

        public void mapPut(
                StateKey key,
                byte[] userKey,
                int userKeyLength,
                byte[] value,
                int offset,
                int length) {
            if (isOn()) {
                long bytes = 2 * Varint.MAX_BYTES + (long) userKeyLength + length;
                begin(this, RedoOp.MAP_PUT, key, bytes);
                sized(userKey, 0, userKeyLength);
                sized(value, offset, length);
            }
        }

        public void mapRemoved(StateKey key, byte[] userKey, int userKeyLength) {
            if (isOn()) {
                begin(this, RedoOp.MAP_REMOVE, key, Varint.MAX_BYTES + (long) userKeyLength);
                sized(userKey, 0, userKeyLength);
            }
        }

        public void mapCleared(StateKey key) {
            keyOnly(RedoOp.MAP_CLEAR, key);
        }

        public void triggerAdded(long timestamp, StateKey key) {
            trigger(RedoOp.TRIGGER_ADD, timestamp, key);
        }

        public void triggerRemoved(long timestamp, StateKey key) {
            trigger(RedoOp.TRIGGER_REMOVE, timestamp, key);
        }

        private void trigger(byte op, long timestamp, StateKey key) {
            if (isOn()) {
                begin(this, op, key, Long.BYTES);
                timestamp(timestamp);
            }
        }

        private void keyOnly(byte op, StateKey key) {
            if (isOn()) {
                begin(this, op, key, 0);
            }
        }
    }

    /** A state's way to write; states of one name, one after the other, are different ones. */
    public OfState state(String name, StateKind kind) {
        return new OfState(name, kind);
    }

    /** A state was forgotten. */
    public void dropped(String state) {
        if (isOn()) {
            byte[] name = state.getBytes(StandardCharsets.UTF_8);
            reserve(1 + Varint.MAX_BYTES + name.length);
            chunk[used++] = RedoOp.DROP;
            sized(name, 0, name.length);
        }
    }

    /** Whether somebody wants to hear of changes. */
    public boolean isOn() {
        return sink != null;
    }

    /** Changes from now on go to the sink; those before, to the sink that there was. */
    public void start(RedoSink to) {
        flush();
        sink = to;
        used = 0;
        nextChunk();
    }

    /** Ends the log; forgets what was not flushed. */
    public void stop() {
        sink = null;
        used = 0;
        chunk = new byte[0];
    }

    /** Hands over all records so far. */
    public void flush() {
        RedoSink to = sink;
        if (to != null && used > 0) {
            to.chunk(chunk, used);
            used = 0;
            nextChunk();
        }
    }

    private void nextChunk() {
        chunkNumber++;
        declared = 0;
        if (chunk.length != CHUNK_BYTES) {
            chunk = new byte[CHUNK_BYTES];
        }
    }

    private void begin(OfState state, byte op, StateKey key, long bytes) {
        begin(state, op, HEAD_BYTES_MAX + key.length() + bytes);
        key(key);
    }

    /**
     * @param bytes the most that follows behind the state's number
     */
    private void begin(OfState state, byte op, long bytes) {
        reserve(1 + Varint.MAX_BYTES + bytes + declarationBytes(state));
        if (state.declaredInChunk != chunkNumber) {
            declare(state);
        }
        chunk[used++] = op;
        number(state.number);
    }

    /** Makes room in this chunk or the next. */
    private void reserve(long bytes) {
        if (used + bytes > chunk.length) {
            flush();
            if (bytes > chunk.length) {
                chunk = new byte[arraySize(bytes)];
            }
        }
    }

    private static int arraySize(long bytes) {
        if (bytes > ARRAY_BYTES_MAX) {
            throw new StateStoreException(
                    "a change of %d bytes is too long for the redo log; split the value"
                            .formatted(bytes));
        }
        return (int) bytes;
    }

    private static int declarationBytes(OfState state) {
        return 2 + 2 * Varint.MAX_BYTES + state.name.length;
    }

    private void declare(OfState state) {
        state.declaredInChunk = chunkNumber;
        state.number = declared++;
        chunk[used++] = RedoOp.DECLARE;
        chunk[used++] = state.kind.code();
        sized(state.name, 0, state.name.length);
    }

    private void key(StateKey key) {
        number(key.keyGroup());
        number(key.keyLength());
        number(key.namespaceLength());
        copy(key.bytes(), 0, key.length());
    }

    private void sized(byte[] source, int offset, int length) {
        number(length);
        copy(source, offset, length);
    }

    private void copy(byte[] source, int offset, int length) {
        System.arraycopy(source, offset, chunk, used, length);
        used += length;
    }

    private void timestamp(long timestamp) {
        for (int shift = 56; shift >= 0; shift -= 8) {
            chunk[used++] = (byte) (timestamp >>> shift);
        }
    }

    private void number(int value) {
        used = Varint.write(value, chunk, used);
    }
}
