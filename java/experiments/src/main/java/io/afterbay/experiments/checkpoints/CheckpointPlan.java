package io.afterbay.experiments.checkpoints;

import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.command.ByteSize;
import io.afterbay.experiments.TrialPlan;
import java.time.Duration;
import java.util.Locale;

/**
 * One run of the experiment about checkpoints.
 *
 * @param intervalMs between checkpoints, 0 for none
 * @param warmUpMs how long the job runs at full speed with all of its state before anything counts
 * @param closedMs how long it is measured at full speed
 * @param openMs how long it is measured at the fixed rate; not without checkpoints
 * @param ratePerS the fixed rate
 */
record CheckpointPlan(
        String backend,
        int pair,
        long stateMib,
        int valueBytes,
        long intervalMs,
        long warmUpMs,
        long closedMs,
        long openMs,
        double ratePerS)
        implements TrialPlan {

    @Override
    public String title() {
        return String.format(
                Locale.ROOT,
                "%s, state %s, checkpoints %s, pair %d",
                backend,
                ByteSize.ofMiB(stateMib),
                intervalMs == 0 ? "off" : "every " + intervalMs + " ms",
                pair);
    }

    @Override
    public EngineOptions engine(EngineOptions given) {
        return given.withCheckpointInterval(Duration.ofMillis(intervalMs));
    }

    long stateBytes() {
        return ByteSize.ofMiB(stateMib).bytes();
    }
}
