package io.afterbay.workloads.profiles;

import java.io.Serializable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the job runs on.
 *
 * @param changes of profiles
 * @param records how many there are, of the snapshot and behind it
 * @param intervalMicros event time between two records; the first is of the beginning of 1970
 * @param dictionary version
 * @param recordsPerSecond the rate of the open loop, or 0 for as fast as possible
 * @param output where the rows go as CSV, or null for nowhere
 * @param run names the {@link ProfilesStatistics} of this run within the process
 */
public record ProfilesOptions(
        ProfileChanges changes,
        long records,
        long intervalMicros,
        int dictionary,
        double recordsPerSecond,
        @Nullable String output,
        String run)
        implements Serializable {

    /** Record {@code number}, from 0 on. */
    public Profile record(long number) {
        return changes.record(number, number * intervalMicros);
    }

    /** The number of the record that was written then. */
    long number(long changedMicros) {
        return changedMicros / intervalMicros;
    }

    /** Event time of a record in milliseconds since 1970. */
    static long timeMillis(Profile profile) {
        return TimeUnit.MICROSECONDS.toMillis(profile.changedMicros());
    }

    public boolean isOpenLoop() {
        return recordsPerSecond > 0;
    }

    /** The same run with another output. */
    public ProfilesOptions writingTo(String file) {
        return new ProfilesOptions(
                changes, records, intervalMicros, dictionary, recordsPerSecond, file, run);
    }
}
