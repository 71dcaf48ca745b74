package io.afterbay.bench;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import org.jspecify.annotations.Nullable;

/**
 * One run of a NEXMark query, as fast as possible (closed loop) or at a rate (open loop): of the
 * experiment about latency, and of that which sweeps a parameter of the store. Figures are as in
 * {@link Run}; those of the other loop are null.
 *
 * @param cell size of the state to the memory
 * @param ratePercent of the open loop, in percent of the maximum rate; 0: closed loop
 * @param parameter what is swept; null if nothing is
 * @param value of the parameter; null without one
 * @param isDefault whether that is the value which users get
 * @param rows identifies what came out, whatever the order; null if that was not reached
 * @param ratePerS events per second of the open loop
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record QueryTrial(
        String backend,
        String query,
        Cell cell,
        int ratePercent,
        @Nullable String parameter,
        @Nullable String value,
        boolean isDefault,
        int pair,
        @Nullable String failure,
        @Nullable String rows,
        @Nullable Double eventsPerS,
        @Nullable Double cpuUsPerEvent,
        @Nullable Double taskCpuUsPerEvent,
        @Nullable Double backgroundCpuUsPerEvent,
        @Nullable Double writtenMb,
        @Nullable Double ratePerS,
        @Nullable Double p50Ms,
        @Nullable Double p99Ms,
        @Nullable Double p999Ms,
        @Nullable Double maxMs,
        @Nullable Double longestPauseMs,
        @Nullable Double peakRssMb,
        @Nullable Double diskMb)
        implements Trial {

    /** The same run without figures, failed. */
    public QueryTrial failed(String reason) {
        return new QueryTrial(
                backend,
                query,
                cell,
                ratePercent,
                parameter,
                value,
                isDefault,
                pair,
                reason,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }
}
