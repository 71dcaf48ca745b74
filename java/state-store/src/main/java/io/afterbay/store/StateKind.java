package io.afterbay.store;

import org.jspecify.annotations.Nullable;

/** What a named state holds, as files say it. */
public enum StateKind {
    VALUES(1),
    ALIGNED_LISTS(2),
    UNALIGNED_LISTS(3),
    MAPS(4),
    TRIGGERS(5);

    private final byte code;

    StateKind(int code) {
        this.code = (byte) code;
    }

    public byte code() {
        return code;
    }

    public static StateKind of(ReadAlignment alignment) {
        return alignment == ReadAlignment.ALIGNED ? ALIGNED_LISTS : UNALIGNED_LISTS;
    }

    /** Null if there is no such code. */
    public static @Nullable StateKind ofCode(byte code) {
        return code < 1 || code > values().length ? null : values()[code - 1];
    }
}
