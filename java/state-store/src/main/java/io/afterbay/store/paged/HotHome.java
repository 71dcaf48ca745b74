package io.afterbay.store.paged;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;

/** Where the records of a state go when they leave the hot tier; what the tier knows about it. */
abstract class HotHome {
    /** Assigned by the tier. */
    int id;

    /** Its records in the tier that count. */
    int records;

    /** The record that was found or made last, or 0; a live one. */
    long latest;

    /** Room for a value to begin with. */
    int usualValueBytes = 16;

    /**
     * Tells the redo log what a dirty record says.
     *
     * @param flags of {@link HotRecord}
     * @param loggedBytes of the value, which the log has heard of
     */
    abstract void log(StateKey key, int flags, int loggedBytes, Slice value);

    /**
     * Writes what a dirty record says; may pass safepoints. The redo log has heard of it.
     *
     * @param flags of {@link HotRecord}
     */
    abstract void settle(StateKey key, int flags, Slice value);
}
