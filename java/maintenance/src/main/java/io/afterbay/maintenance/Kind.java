package io.afterbay.maintenance;

/** What a task of background work does. */
public enum Kind {
    /** Writes memory to files. Memory is waiting for it: never delayed, and before the others. */
    FLUSH,
    /** Rewrites files to remove garbage. */
    COMPACTION,
    /** Copies sealed files to the checkpoint storage between checkpoints. */
    UPLOAD,
    /** Reads what will be asked for soon. */
    PREFETCH;

    /** May wait for its phase, for the end of a pause and for the limit of concurrency. */
    public boolean isDeferrable() {
        return this != FLUSH;
    }
}
