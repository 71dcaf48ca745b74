package io.afterbay.store.redo;

/** The first byte of a record. */
final class RedoOp {
    /** Gives a state its number in this chunk. */
    static final byte DECLARE = 1;

    static final byte DROP = 2;
    static final byte VALUE_PUT = 3;
    static final byte VALUE_REMOVE = 4;
    static final byte LIST_APPEND = 5;
    static final byte LIST_CLEAR = 6;
    static final byte LIST_MERGE = 7;
    static final byte MAP_PUT = 8;
    static final byte MAP_REMOVE = 9;
    static final byte MAP_CLEAR = 10;
    static final byte TRIGGER_ADD = 11;
    static final byte TRIGGER_REMOVE = 12;

    private RedoOp() {}
}
