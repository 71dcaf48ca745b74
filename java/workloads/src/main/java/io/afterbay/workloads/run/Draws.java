package io.afterbay.workloads.run;

import java.io.Serializable;

/**
 * Random numbers as a function of seed, event and draw: those of an event are the same in every
 * run, on every machine, from wherever a run starts. Immutable; safe for use by any thread.
 *
 * @param seed of everything that is random
 */
public record Draws(long seed) implements Serializable {
    /** Weyl increment and mixing constants of SplitMix64 (Steele, Lea, Flood, OOPSLA '14). */
    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    /** Random numbers that one event can use. */
    private static final long PER_EVENT = 16;

    private static final double TWO_TO_MINUS_53 = 0x1.0p-53;

    /** From 0 to below 1. */
    public double unit(long event, int draw) {
        return (bits(event, draw) >>> 11) * TWO_TO_MINUS_53;
    }

    /** From 0 to below the bound, all equally likely. */
    public int below(long event, int draw, int bound) {
        return (int) (unit(event, draw) * bound);
    }

    /**
     * From 0 to below the bound, the more likely the smaller: the density at x is in proportion to
     * 1 / sqrt(x).
     */
    public int skewed(long event, int draw, int bound) {
        double unit = unit(event, draw);
        return (int) (unit * unit * bound);
    }

    /** The same with a density in proportion to 1 / cbrt(x). */
    public int slightlySkewed(long event, int draw, int bound) {
        double unit = unit(event, draw);
        return (int) (unit * Math.sqrt(unit) * bound);
    }

    private long bits(long event, int draw) {
        long z = seed + (event * PER_EVENT + draw + 1) * GAMMA;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
