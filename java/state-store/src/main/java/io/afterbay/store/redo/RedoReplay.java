package io.afterbay.store.redo;

import io.afterbay.store.StateKey;
import io.afterbay.store.StateKind;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Applies a redo log to a store that has the content from which the log was written, or that of
 * some of its key groups. Chunks come in their order. Used by the owner of the store.
 */
public final class RedoReplay {
    private final StateStore store;
    private final int firstKeyGroup;
    private final int lastKeyGroup;
    private final StateKey key = new StateKey();
    private long changes;

    /** A state by its number in the chunk. */
    private record Declared(String name, RedoState state) {}

    /**
     * @param firstKeyGroup changes of other key groups are passed over
     * @param lastKeyGroup inclusive
     */
    public RedoReplay(StateStore store, int firstKeyGroup, int lastKeyGroup) {
        this.store = store;
        this.firstKeyGroup = firstKeyGroup;
        this.lastKeyGroup = lastKeyGroup;
    }

    /** Changes read so far, those passed over too. */
    public long changes() {
        return changes;
    }

    /**
     * Applies one chunk.
     *
     * @throws StateStoreException if it is damaged; the store is then to be thrown away
     */
    public void apply(byte[] chunk, int length) {
        store.continueReplay();
        RedoInput in = new RedoInput(chunk, length);
        List<Declared> declared = new ArrayList<>();
        while (in.hasMore()) {
            int start = in.position();
            try {
                apply(in, declared, start);
            } catch (IndexOutOfBoundsException e) {
                throw damaged(start, "no whole record: " + e.getMessage(), e);
            }
        }
    }

    private void apply(RedoInput in, List<Declared> declared, int start) {
        byte op = in.readByte();
        if (op == RedoOp.DECLARE) {
            declared.add(declare(in, start));
            return;
        }
        changes++;
        if (op == RedoOp.DROP) {
            store.drop(in.readText());
            return;
        }
        int number = in.readNumber();
        if (number >= declared.size()) {
            throw damaged(start, "state " + number + " is not declared", null);
        }
        Declared target = declared.get(number);
        in.readKey(key);
        boolean applies = key.keyGroup() >= firstKeyGroup && key.keyGroup() <= lastKeyGroup;
        if (!target.state.apply(op, key, in, applies)) {
            throw damaged(start, "operation " + op + " on state " + target.name, null);
        }
    }

    private Declared declare(RedoInput in, int start) {
        byte code = in.readByte();
        String name = in.readText();
        StateKind kind = StateKind.ofCode(code);
        if (kind == null) {
            throw damaged(start, "state " + name + " is of the unknown kind " + code, null);
        }
        return new Declared(name, RedoState.open(store, kind, name));
    }

    private static StateStoreException damaged(
            int position, String what, @Nullable Exception cause) {
        return new StateStoreException(
                "the redo log is damaged at byte %d of a chunk: %s".formatted(position, what),
                cause);
    }
}
