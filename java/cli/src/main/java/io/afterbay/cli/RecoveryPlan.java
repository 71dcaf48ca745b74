package io.afterbay.cli;

import java.util.Locale;

/**
 * One run of the experiment about recovery.
 *
 * @param local whether a copy of the state on the TaskManager's disk may be used
 * @param intervalMs between checkpoints
 * @param ratePerS updates per second when the state is complete
 */
record RecoveryPlan(
        String backend,
        int pair,
        long stateMib,
        int valueBytes,
        boolean local,
        long intervalMs,
        double ratePerS)
        implements TrialPlan {

    @Override
    public String title() {
        return String.format(
                Locale.ROOT,
                "%s, state %s, %s, pair %d",
                backend,
                ByteSize.ofMiB(stateMib),
                local ? "local recovery" : "from the checkpoint storage",
                pair);
    }

    long stateBytes() {
        return ByteSize.ofMiB(stateMib).bytes();
    }
}
