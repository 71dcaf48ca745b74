package io.afterbay.flink.state;

import java.io.Serializable;

/**
 * How many objects each state of an operator instance may keep on the heap; see {@link ObjectTier}.
 *
 * @param enabled whether any are kept
 * @param entries values at most; rounded up to a power of two, at least {@link #ENTRIES_MIN}
 * @param dirtyEntries of these, such that the store does not have yet: what a snapshot writes back
 *     in its synchronous part
 */
public record ObjectTierSettings(boolean enabled, int entries, int dirtyEntries)
        implements Serializable {
    public static final int ENTRIES_MIN = 8;
    public static final int ENTRIES_MAX = 1 << 20;

    /** Keeps nothing. */
    public static final ObjectTierSettings OFF = new ObjectTierSettings(false, ENTRIES_MIN, 1);
}
