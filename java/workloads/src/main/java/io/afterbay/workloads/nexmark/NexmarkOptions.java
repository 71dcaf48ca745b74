package io.afterbay.workloads.nexmark;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * What a query runs on.
 *
 * @param query one of the eight
 * @param events how many events the stream has
 * @param generator the stream
 * @param windows the lengths of windows
 * @param eventsPerSecond the rate of the open loop, or 0 for as fast as possible
 * @param output where the rows go as CSV, or null for nowhere
 * @param run names the {@link NexmarkStatistics} of this run within the process
 */
public record NexmarkOptions(
        Query query,
        long events,
        Generator generator,
        Windows windows,
        double eventsPerSecond,
        @Nullable String output,
        String run)
        implements Serializable {

    /**
     * Lengths of windows in event time. The slide is half of the window.
     *
     * @param lengthMillis of tumbling and sliding windows; even
     * @param sessionGapMillis a longer pause ends a session
     */
    public record Windows(long lengthMillis, long sessionGapMillis) implements Serializable {
        public long slideMillis() {
            return lengthMillis / 2;
        }
    }

    public boolean isOpenLoop() {
        return eventsPerSecond > 0;
    }

    /**
     * The same query on as many events as another run, or fewer than the generator has.
     *
     * @param newRate of the open loop, or 0
     */
    public NexmarkOptions as(String newRun, long newEvents, double newRate) {
        return new NexmarkOptions(query, newEvents, generator, windows, newRate, output, newRun);
    }

    /** The same run with another output. */
    public NexmarkOptions writingTo(String file) {
        return new NexmarkOptions(query, events, generator, windows, eventsPerSecond, file, run);
    }
}
