package io.afterbay.kafka;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits, but not for ever. */
final class Await {
    private static final long LIMIT_SECONDS = 20;

    private Await() {}

    static void until(String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within " + LIMIT_SECONDS + " s: " + what);
            }
            Thread.sleep(1);
        }
    }
}
