package io.afterbay.cli.profile;

import java.util.Arrays;

/**
 * The CPU time of one thread, looked at every few milliseconds, and in which state it was then. Not
 * thread safe.
 */
final class ThreadTrace {
    private long[] atNanos = new long[256];
    private long[] cpuNanos = new long[256];
    private int looks;
    private long javaNanos;
    private long nativeNanos;

    /**
     * One look; the CPU time since the one before counts to the state in which the thread is found.
     * It counts to none if the thread waits.
     */
    void look(long now, long cpu, boolean isRunnable, boolean inNative) {
        if (looks > 0 && isRunnable) {
            long used = cpu - cpuNanos[looks - 1];
            if (inNative) {
                nativeNanos += used;
            } else {
                javaNanos += used;
            }
        }
        if (looks == atNanos.length) {
            atNanos = Arrays.copyOf(atNanos, 2 * looks);
            cpuNanos = Arrays.copyOf(cpuNanos, 2 * looks);
        }
        atNanos[looks] = now;
        cpuNanos[looks++] = cpu;
    }

    /** CPU time from the first look to the last. */
    long totalNanos() {
        return looks == 0 ? 0 : cpuNanos[looks - 1] - cpuNanos[0];
    }

    /**
     * The part of {@link #totalNanos} in native code; what counted to no state is divided alike.
     */
    double nativeShare() {
        long known = javaNanos + nativeNanos;
        return known == 0 ? 0 : (double) nativeNanos / known;
    }

    /**
     * The share of a processor that it used around that time; 0 if nobody looked then. A sample of
     * a thread that waits in native code, or for a processor, weighs nothing.
     */
    double busy(long at) {
        int found = Arrays.binarySearch(atNanos, 0, looks, at);
        int after = found < 0 ? -found - 1 : found;
        if (after == 0 || after == looks) {
            return 0;
        }
        long time = atNanos[after] - atNanos[after - 1];
        return time <= 0 ? 0 : (double) (cpuNanos[after] - cpuNanos[after - 1]) / time;
    }
}
