package io.afterbay.replay.merge;

/**
 * The row with the newer timestamp in the log stays, and of equal ones that of the live job. A sink
 * of Flink writes the event time of a row there, if it has one.
 */
public final class NewestTimestamp implements Resolver {
    private static final long serialVersionUID = 1;

    @Override
    public long version(OutputRow row) {
        Long timestampMs = row.timestampMs();
        if (timestampMs == null) {
            throw new MergeImpossibleException(
                    "a row of topic '%s' has no timestamp: its job writes none, so say how new its rows are by a Resolver"
                            .formatted(row.topic()));
        }
        return timestampMs;
    }
}
