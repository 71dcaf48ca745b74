package io.afterbay.experiments.recovery;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.afterbay.bench.Trial;
import org.jspecify.annotations.Nullable;

/**
 * One run of the experiment about recovery: a TaskManager is killed, another one started in its
 * place, and the tasks restored; those of other TaskManagers too, as each gets events from all.
 * Times begin when the JobManager deploys the tasks again, and end when the last of them is so far.
 *
 * @param stateMib size of all values in the state
 * @param killedPercent share of the instances of the operator whose TaskManager was killed, in
 *     percent; all of them in lines that do not say it
 * @param localRecovery whether a copy of the state on the TaskManager's disk may be used
 * @param outputsRight whether the counts sampled after the restart are those that were computed
 *     without an engine; null if that was not reached
 * @param restoredMs until the operator was given its state
 * @param firstEventMs until it had processed its first event
 * @param caughtUpMs until it processed events when they were due, a quarter of a second late at
 *     most
 * @param downMs from the kill until the first event was processed, with the start of the JVM
 * @param instances of the operator with the state
 * @param localInstances how many of them were restored from the TaskManager's disk
 * @param readMb what the new process had read from files and connections when all instances had
 *     processed their first event; null where the system does not tell
 * @param checkpointMb size of the checkpoint that was restored
 * @param replayedMs age of that checkpoint at the kill
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
public record RecoveryTrial(
        String backend,
        long stateMib,
        int killedPercent,
        boolean localRecovery,
        int pair,
        @Nullable String failure,
        @Nullable Boolean outputsRight,
        @Nullable Double ratePerS,
        @Nullable Double restoredMs,
        @Nullable Double firstEventMs,
        @Nullable Double caughtUpMs,
        @Nullable Double downMs,
        int instances,
        int localInstances,
        @Nullable Double readMb,
        @Nullable Double checkpointMb,
        @Nullable Double replayedMs)
        implements Trial {

    private static final int ALL_PERCENT = 100;

    public RecoveryTrial {
        killedPercent = killedPercent == 0 ? ALL_PERCENT : killedPercent;
    }

    @Override
    public boolean counts() {
        return finished() && !Boolean.FALSE.equals(outputsRight);
    }

    /** A run that found out nothing. */
    public static RecoveryTrial failed(
            String backend,
            long stateMib,
            int killedPercent,
            boolean localRecovery,
            int pair,
            String failure) {
        return new RecoveryTrial(
                backend,
                stateMib,
                killedPercent,
                localRecovery,
                pair,
                failure,
                null,
                null,
                null,
                null,
                null,
                null,
                0,
                0,
                null,
                null,
                null);
    }
}
