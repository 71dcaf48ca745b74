package io.afterbay.experiments.recovery;

import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.command.ByteSize;
import io.afterbay.experiments.TrialPlan;
import java.util.Locale;

/**
 * One run of the experiment about recovery.
 *
 * @param killedPercent share of the instances whose TaskManager is killed
 * @param instances of the operator with the state
 * @param local whether a copy of the state on the TaskManager's disk may be used
 * @param intervalMs between checkpoints
 * @param ratePerS updates per second when the state is complete
 */
record RecoveryPlan(
        String backend,
        int pair,
        long stateMib,
        int killedPercent,
        int instances,
        int valueBytes,
        boolean local,
        long intervalMs,
        double ratePerS)
        implements TrialPlan {

    @Override
    public String title() {
        return String.format(
                Locale.ROOT,
                "%s, state %s, %d of %d killed, %s, pair %d",
                backend,
                ByteSize.ofMiB(stateMib),
                killsAll() ? instances : 1,
                instances,
                local ? "local recovery" : "from the checkpoint storage",
                pair);
    }

    @Override
    public EngineOptions engine(EngineOptions given) {
        return given.withParallelism(instances);
    }

    /** Whether there is one TaskManager; else the one that is killed has one instance. */
    boolean killsAll() {
        return killedPercent == KilledShare.ALL.percent();
    }

    long stateBytes() {
        return ByteSize.ofMiB(stateMib).bytes();
    }
}
