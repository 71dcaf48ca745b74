package io.afterbay.stragglers;

import java.util.concurrent.atomic.AtomicLong;

/**
 * SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) with a state that threads share: one atomic
 * addition a number, no allocation, and the same numbers from the same seed. Safe for use by any
 * thread.
 */
final class SharedRandom {
    private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

    private final AtomicLong state;

    SharedRandom(long seed) {
        state = new AtomicLong(seed);
    }

    long nextLong() {
        long z = state.addAndGet(GOLDEN_GAMMA);
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    /** From 0 to below 1. */
    double nextDouble() {
        return (nextLong() >>> 11) * 0x1p-53;
    }

    /** The upper half of some random bits as a number from 0 to below the bound. */
    static int upper(long bits, int bound) {
        return (int) (((bits >>> 32) * bound) >>> 32);
    }

    /** The lower half, independent of the upper one. */
    static int lower(long bits, int bound) {
        return upper(bits << 32, bound);
    }
}
