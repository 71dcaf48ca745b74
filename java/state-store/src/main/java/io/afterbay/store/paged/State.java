package io.afterbay.store.paged;

import io.afterbay.store.page.PageSource;
import java.io.DataInput;
import java.io.IOException;

/** What every named state of a store has, whatever its shape. */
interface State {
    /** For messages. */
    String shape();

    /** Reads what {@link FrozenState#writeRoot} has written, into an empty state. */
    void load(DataInput in) throws IOException;

    /** Writes to pages what waits in memory beside them; before a snapshot freezes the pages. */
    default void settle() {}

    /** Tells the redo log of changes that it has not heard of. */
    default void logChanges() {}

    /** From now on leaves little to {@link #settle}, until that is called; or does so no longer. */
    default void expectSnapshot(boolean expected) {}

    /** Whether there is little to {@link #settle} by now. */
    default boolean isPrepared() {
        return true;
    }

    /** Changes from now on are those of a redo log. */
    default void beginReplay() {}

    default void endReplay() {}

    /** Gives memory beside the pages back if the store's share is too small for it by now. */
    default void giveBack() {}

    /** Its content as it is now, to be read from a snapshot that is taken in the same moment. */
    FrozenState freeze(PageSource snapshot);

    /** Frees all pages, and memory beside them. */
    void free();

    /** The store is about to close: frees memory beside the pages. Idempotent. */
    default void close() {}
}
