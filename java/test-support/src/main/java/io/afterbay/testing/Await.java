package io.afterbay.testing;

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Waiting in tests: for a condition, never for a time. The deadline is there so that a test that
 * waits in vain ends with a message; it is so generous that a busy machine does not meet it.
 */
public final class Await {
    /** Of everything that a test waits for. */
    public static final Duration DEADLINE = Duration.ofMinutes(4);

    private static final long POLL_MILLIS_MIN = 5;

    /** Less often when it takes long: a look may be a call to a process that has work to do. */
    private static final long POLL_MILLIS_MAX = 100;

    private Await() {}

    /**
     * Polls until the condition holds.
     *
     * @param what is missing if it never does
     */
    public static void until(String what, Callable<Boolean> condition) throws Exception {
        until(() -> what, condition);
    }

    /**
     * Polls until the condition holds.
     *
     * @param what is missing if it never does; asked when time is up, so that it can say how things
     *     are then
     */
    public static void until(Callable<String> what, Callable<Boolean> condition) throws Exception {
        until(DEADLINE, what, condition);
    }

    static void until(Duration limit, Callable<String> what, Callable<Boolean> condition)
            throws Exception {
        long start = System.nanoTime();
        long pause = POLL_MILLIS_MIN;
        while (!condition.call()) {
            if (System.nanoTime() - start > limit.toNanos()) {
                throw new AssertionError(
                        "waited %d s in vain for: %s".formatted(limit.toSeconds(), what.call()));
            }
            Thread.sleep(pause);
            pause = Math.min(2 * pause, POLL_MILLIS_MAX);
        }
    }
}
