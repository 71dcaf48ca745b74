package io.afterbay.spark.model;

/**
 * What waits for what. The controls switch one wait off each.
 *
 * @param offsetsReturn when the offset log lets the driver go on
 * @param gate what {@code commits/N} waits for of the state files that it names
 * @param ordersLog {@code offsets/N+1} waits for {@code commits/N}
 * @param awaitsFirst {@code offsets/0} is waited for, as in strict mode
 * @param holdsSink a task ends its state commit of batch N only if {@code offsets/N} is published
 * @param hasUniqueNames state files of two attempts have different names, as in checkpoint format
 *     v2
 * @param discardsInput the source forgets what is committed to it
 * @param hasExecutors state files are published by processes of their own
 * @param findsLost the query fails if a commit waits for a file that no process has
 */
record Protocol(
        OffsetsReturn offsetsReturn,
        Gate gate,
        boolean ordersLog,
        boolean awaitsFirst,
        boolean holdsSink,
        boolean hasUniqueNames,
        boolean discardsInput,
        boolean hasExecutors,
        boolean findsLost) {

    /** What {@code commits/N} waits for. */
    enum Gate {
        /** State files are published; with executors: and they have said so. */
        PUBLISHED,
        /** Executors have said that they have them, published or not. */
        TAKEN,
        NONE
    }

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
        return new Protocol(
                OffsetsReturn.PUBLISHED,
                Gate.PUBLISHED,
                true,
                true,
                false,
                true,
                true,
                false,
                true);
    }

    /** For sources that keep their input: publishing of a batch goes on beside the next. */
    static Protocol pipelined() {
        return new Protocol(
                OffsetsReturn.AT_ONCE, Gate.PUBLISHED, true, true, true, true, false, false, true);
    }

    Protocol onExecutors() {
        return new Protocol(
                offsetsReturn,
                gate,
                ordersLog,
                awaitsFirst,
                holdsSink,
                hasUniqueNames,
                discardsInput,
                true,
                findsLost);
    }

    Protocol withOffsetsReturn(OffsetsReturn value) {
        return new Protocol(
                value,
                gate,
                ordersLog,
                awaitsFirst,
                holdsSink,
                hasUniqueNames,
                discardsInput,
                hasExecutors,
                findsLost);
    }

    Protocol withGate(Gate value) {
        return new Protocol(
                offsetsReturn,
                value,
                ordersLog,
                awaitsFirst,
                holdsSink,
                hasUniqueNames,
                discardsInput,
                hasExecutors,
                findsLost);
    }

    Protocol withoutOrder() {
        return new Protocol(
                offsetsReturn,
                gate,
                false,
                awaitsFirst,
                holdsSink,
                hasUniqueNames,
                discardsInput,
                hasExecutors,
                findsLost);
    }

    Protocol withoutBarrier() {
        return new Protocol(
                offsetsReturn,
                gate,
                ordersLog,
                awaitsFirst,
                false,
                hasUniqueNames,
                discardsInput,
                hasExecutors,
                findsLost);
    }

    Protocol withoutAwaitingTheFirst() {
        return new Protocol(
                offsetsReturn,
                gate,
                ordersLog,
                false,
                holdsSink,
                hasUniqueNames,
                discardsInput,
                hasExecutors,
                findsLost);
    }

    Protocol withoutUniqueNames() {
        return new Protocol(
                offsetsReturn,
                gate,
                ordersLog,
                awaitsFirst,
                holdsSink,
                false,
                discardsInput,
                hasExecutors,
                findsLost);
    }

    Protocol withDiscardingSource() {
        return new Protocol(
                offsetsReturn,
                gate,
                ordersLog,
                awaitsFirst,
                holdsSink,
                hasUniqueNames,
                true,
                hasExecutors,
                findsLost);
    }

    Protocol withoutFindingLost() {
        return new Protocol(
                offsetsReturn,
                gate,
                ordersLog,
                awaitsFirst,
                holdsSink,
                hasUniqueNames,
                discardsInput,
                hasExecutors,
                false);
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
            return gate == Gate.PUBLISHED || !(earlier instanceof Entry.State);
        }
        return ordersLog || earlier instanceof Entry.Offsets;
    }
}
