package io.afterbay.spark.model;

/**
 * What waits for what. The controls switch one wait off each.
 *
 * @param offsetsReturn when the offset log lets the driver go on
 * @param gatesCommits {@code commits/N} waits for the state files that it names
 * @param ordersLog {@code offsets/N+1} waits for {@code commits/N}
 * @param holdsSink a task ends its state commit of batch N only if {@code offsets/N} is published
 * @param hasUniqueNames state files of two runs have different names, as in checkpoint format v2
 * @param discardsInput the source forgets what is committed to it
 */
record Protocol(
        OffsetsReturn offsetsReturn,
        boolean gatesCommits,
        boolean ordersLog,
        boolean holdsSink,
        boolean hasUniqueNames,
        boolean discardsInput) {

    enum OffsetsReturn {
        /** {@code offsets/N} itself is published: strict mode. */
        PUBLISHED,
        /** {@code commits/N-1} is published: what the design asked for first. */
        AFTER_LAST_COMMIT,
        /** It lies on the local disk: pipelined mode. */
        AT_ONCE
    }

    /** For every source: the driver goes on when its offsets are published. */
    static Protocol strict() {
        return new Protocol(OffsetsReturn.PUBLISHED, true, true, false, true, true);
    }

    /** For sources that keep their input: publishing of a batch goes on beside the next. */
    static Protocol pipelined() {
        return new Protocol(OffsetsReturn.AT_ONCE, true, true, true, true, false);
    }

    Protocol withOffsetsReturn(OffsetsReturn value) {
        return new Protocol(
                value, gatesCommits, ordersLog, holdsSink, hasUniqueNames, discardsInput);
    }

    Protocol withoutGate() {
        return new Protocol(
                offsetsReturn, false, ordersLog, holdsSink, hasUniqueNames, discardsInput);
    }

    Protocol withoutOrder() {
        return new Protocol(
                offsetsReturn, gatesCommits, false, holdsSink, hasUniqueNames, discardsInput);
    }

    Protocol withoutBarrier() {
        return new Protocol(
                offsetsReturn, gatesCommits, ordersLog, false, hasUniqueNames, discardsInput);
    }

    Protocol withoutUniqueNames() {
        return new Protocol(
                offsetsReturn, gatesCommits, ordersLog, holdsSink, false, discardsInput);
    }

    Protocol withDiscardingSource() {
        return new Protocol(
                offsetsReturn, gatesCommits, ordersLog, holdsSink, hasUniqueNames, true);
    }

    /** Whether an entry may be published while these wait in front of it. */
    boolean mayPublish(Entry entry, Iterable<Entry> earlier) {
        for (Entry other : earlier) {
            if (waitsFor(entry, other)) {
                return false;
            }
        }
        return true;
    }

    private boolean waitsFor(Entry entry, Entry earlier) {
        if (entry instanceof Entry.State) {
            return false; // any order: nobody reads one that no commit names
        }
        if (entry instanceof Entry.Commit) {
            return gatesCommits || !(earlier instanceof Entry.State);
        }
        return ordersLog || earlier instanceof Entry.Offsets;
    }
}
