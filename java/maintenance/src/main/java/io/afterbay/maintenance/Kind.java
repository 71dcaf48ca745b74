package io.afterbay.maintenance;

/**
 * What a task of background work does. Uploads and reads ahead are none of it: a task that waits
 * for a storage which does not answer would keep its thread from all others (ADR 0018).
 */
public enum Kind {
    /** Writes memory to files. Memory is waiting for it: never delayed, and before the others. */
    FLUSH,
    /** Rewrites files to remove garbage. */
    COMPACTION;

    /** May wait for its phase, for the end of a pause and for the limit of concurrency. */
    public boolean isDeferrable() {
        return this != FLUSH;
    }
}
