package io.afterbay.storm.workloads;

import java.util.concurrent.locks.LockSupport;

/** The work of bolts: many that sleep fit few processors. */
final class Sleep {
    private Sleep() {}

    /** Until so much time has passed, or the thread is interrupted. */
    static void nanos(long nanos) {
        long end = System.nanoTime() + nanos;
        long left = nanos;
        while (left > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(left);
            left = end - System.nanoTime();
        }
    }
}
