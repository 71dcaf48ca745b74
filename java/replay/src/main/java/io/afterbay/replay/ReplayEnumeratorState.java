package io.afterbay.replay;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the enumerator keeps in a checkpoint.
 *
 * @param checkpoint of the enumerator of the source that is replayed; null if it begins anew
 * @param counts by their ids
 * @param haveAllEnded whether every reader had read all that it had to
 * @param replay which one wrote it, and its range; null if it begins anew
 */
record ReplayEnumeratorState<EnumT>(
        @Nullable EnumT checkpoint,
        Map<String, Count> counts,
        boolean haveAllEnded,
        @Nullable String replay) {
    /**
     * What a reader has counted. The enumerator keeps it, since a task that has finished has no
     * state in later checkpoints.
     *
     * @param records that have passed
     * @param isFinal whether the reader has ended
     */
    record Count(long records, boolean isFinal) {}

    static <EnumT> ReplayEnumeratorState<EnumT> anew() {
        return new ReplayEnumeratorState<>(null, Map.of(), false, null);
    }
}
