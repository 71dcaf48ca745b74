package io.afterbay.store.testkit;

/** What a {@link BrokenStore} does wrong. */
public enum Defect {
    /** Nothing: shows that the wrapper itself is sound. */
    NONE,
    /** Loses every n-th appended element. */
    DROPS_APPENDS,
    /** Loses every n-th value that is put. */
    DROPS_PUTS,
    /** Says that it removed, and does not. */
    FORGETS_REMOVES,
    /** Clears neither lists nor maps. */
    FORGETS_CLEARS,
    /** Clears the source of a merge without appending it to the target. */
    LOSES_MERGES,
    /** Appends the source of a merge to the target, and keeps it. */
    KEEPS_MERGED_SOURCES,
    /** A reader shows what the list holds when the reader is used. */
    READERS_FOLLOW_CHANGES,
    /** Hands out the second trigger before the first. */
    SWAPS_TRIGGERS,
    /** Triggers stay after they have fired. */
    FIRES_TWICE,
    /** Triggers that were removed fire. */
    FIRES_REMOVED_TRIGGERS,
    /** A snapshot shows what was there when the one before was taken. */
    STALE_SNAPSHOTS,
    /** A snapshot shows what is there when it is read. */
    SNAPSHOTS_FOLLOW_CHANGES,
    /** Flips a bit of a value that is read. */
    FLIPS_BITS,
    /** Iteration over a map leaves out an entry. */
    SKIPS_MAP_ENTRIES,
    /** A dropped state comes back. */
    FORGETS_DROPS,
    /** Leaves a file behind. */
    LEAVES_FILES
}
