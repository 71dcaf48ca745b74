package io.afterbay.workloads.trafficjam;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * What the job runs on.
 *
 * @param input a trace, plain or gzip, or {@code -}
 * @param output where the rankings go as CSV, or null for nowhere
 * @param rejects where late and malformed lines go, or null for nowhere
 * @param payloadBytes ballast in the state of each car
 * @param history reports kept in the state of each car, at least 1
 * @param work computing for each report, in thousands of steps
 * @param repeat times through the trace
 * @param linesMax where the input ends, if not with the last pass
 * @param linesPerSecond the rate of the open loop, or 0 for as fast as possible
 * @param run names the {@link TrafficJamStatistics} of this run within the process
 */
public record TrafficJamOptions(
        String input,
        @Nullable String output,
        @Nullable String rejects,
        int payloadBytes,
        int history,
        int work,
        int repeat,
        long linesMax,
        double linesPerSecond,
        String run)
        implements Serializable {

    public boolean isOpenLoop() {
        return linesPerSecond > 0;
    }

    /**
     * The same job on so many lines, from as many passes as that takes.
     *
     * @param newRate of the open loop, or 0
     */
    public TrafficJamOptions as(String newRun, long lines, double newRate) {
        return new TrafficJamOptions(
                input,
                output,
                rejects,
                payloadBytes,
                history,
                work,
                Integer.MAX_VALUE,
                lines,
                newRate,
                newRun);
    }

    /** The same run with another output. */
    public TrafficJamOptions writingTo(String file) {
        return new TrafficJamOptions(
                input,
                file,
                rejects,
                payloadBytes,
                history,
                work,
                repeat,
                linesMax,
                linesPerSecond,
                run);
    }

    public TraceFile trace() {
        return new TraceFile(input);
    }
}
