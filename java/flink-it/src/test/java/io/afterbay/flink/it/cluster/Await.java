package io.afterbay.flink.it.cluster;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waiting for something that another process does. */
public final class Await {
    private static final long POLL_MILLIS = 100;

    private Await() {}

    /**
     * Polls until the condition holds.
     *
     * @param what named, with the state of things, when time is up
     */
    public static void until(Duration limit, Callable<String> what, Callable<Boolean> condition)
            throws Exception {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(
                        "waited %d s for %s".formatted(limit.toSeconds(), what.call()));
            }
            Thread.sleep(POLL_MILLIS);
        }
    }
}
