package io.afterbay.cli.replay;

import java.time.Duration;

/**
 * How long a cluster is waited for.
 *
 * @param tickMs between two questions to it
 * @param patience until it is given up
 */
record Waiting(long tickMs, Duration patience) {
    boolean isOver(long startNanos) {
        return System.nanoTime() - startNanos > patience.toNanos();
    }

    Waiting patientFor(Duration longer) {
        return new Waiting(tickMs, longer);
    }
}
