package io.afterbay.workloads.updates;

import java.io.Serializable;

/**
 * What a job does.
 *
 * @param run names its {@link UpdateStatistics}
 * @param keys values in the state when it is complete; the first so many events write one each
 * @param valueBytes size of each value, at least {@link UpdateValues#BYTES_MIN}
 * @param ratePerS updates per second once the state is complete, unless the statistics say
 *     otherwise; 0 for as fast as possible
 * @param journal directory of the {@link UpdateJournal}
 */
public record UpdateOptions(String run, long keys, int valueBytes, double ratePerS, String journal)
        implements Serializable {

    /** As many values as make up a state of this size, not counting keys and indexes. */
    public static UpdateOptions ofSize(
            String run, long stateBytes, int valueBytes, double ratePerS, String journal) {
        return new UpdateOptions(
                run, Math.max(1, stateBytes / valueBytes), valueBytes, ratePerS, journal);
    }

    /** Size of all values. */
    public long stateBytes() {
        return keys * valueBytes;
    }
}
