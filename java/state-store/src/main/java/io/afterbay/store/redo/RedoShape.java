package io.afterbay.store.redo;

import io.afterbay.store.ReadAlignment;

/** What a state holds, as a record says it. */
public enum RedoShape {
    VALUES(1),
    ALIGNED_LISTS(2),
    UNALIGNED_LISTS(3),
    MAPS(4),
    TRIGGERS(5);

    final byte code;

    RedoShape(int code) {
        this.code = (byte) code;
    }

    public static RedoShape of(ReadAlignment alignment) {
        return alignment == ReadAlignment.ALIGNED ? ALIGNED_LISTS : UNALIGNED_LISTS;
    }
}
