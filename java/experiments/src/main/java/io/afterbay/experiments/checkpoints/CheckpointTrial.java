package io.afterbay.experiments.checkpoints;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.afterbay.bench.Trial;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One run of the experiment about checkpoints: at full speed for a while (closed loop), then at a
 * fixed rate of updates (open loop), with state of a size.
 *
 * @param stateMib size of all values in the state
 * @param intervalMs between checkpoints, 0 for none
 * @param outputsRight whether the sampled counts are those that were computed without an engine;
 *     null if that was not reached
 * @param eventsPerS events per second in the closed loop
 * @param cpuUsPerEvent CPU time of the whole process per event in the closed loop
 * @param writtenMb written to disks in the closed loop
 * @param gcMs time of garbage collections in the closed loop
 * @param closedCheckpoints those that began in the closed loop and were completed
 * @param ratePerS updates per second in the open loop
 * @param behindMs how far the source was behind the schedule at the end of the open loop: more than
 *     a second, and the rate was not kept
 * @param openCheckpoints those that began in the open loop and were completed
 * @param peakRssMb largest resident size of the process
 * @param diskMb largest size of local state and checkpoints together
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record CheckpointTrial(
        String backend,
        long stateMib,
        long intervalMs,
        int pair,
        @Nullable String failure,
        @Nullable Boolean outputsRight,
        @Nullable Double eventsPerS,
        @Nullable Double cpuUsPerEvent,
        @Nullable Double writtenMb,
        @Nullable Double gcMs,
        List<Checkpoint> closedCheckpoints,
        @Nullable Double ratePerS,
        @Nullable Double behindMs,
        List<Checkpoint> openCheckpoints,
        @Nullable Double peakRssMb,
        @Nullable Double diskMb)
        implements Trial {

    /**
     * One checkpoint.
     *
     * @param syncMs the synchronous part, in which the task does nothing else; of the slowest task
     * @param asyncMs the asynchronous part of the slowest task
     * @param endToEndMs from the trigger until the last task has acknowledged
     * @param newMb what was written to the checkpoint storage for it
     * @param fullMb all that a restore from it would read
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    public record Checkpoint(
            double syncMs, double asyncMs, double endToEndMs, double newMb, double fullMb) {}

    @Override
    public boolean counts() {
        return finished() && !Boolean.FALSE.equals(outputsRight);
    }

    /** A run that found out nothing. */
    public static CheckpointTrial failed(
            String backend, long stateMib, long intervalMs, int pair, String failure) {
        return new CheckpointTrial(
                backend,
                stateMib,
                intervalMs,
                pair,
                failure,
                null,
                null,
                null,
                null,
                null,
                List.of(),
                null,
                null,
                List.of(),
                null,
                null);
    }
}
