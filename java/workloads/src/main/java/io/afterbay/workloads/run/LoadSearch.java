package io.afterbay.workloads.run;

/**
 * Seeks the rate at which a job takes a given share of the processors' time. The first guess is
 * what an event costs as fast as possible; then each attempt corrects the one before in proportion,
 * since what is paid per checkpoint rather than per event weighs more at a lower rate. An attempt
 * that takes all there is says only that it was too much.
 */
public final class LoadSearch {
    /** Attempts, since each lasts for some checkpoints. */
    public static final int ATTEMPTS_MAX = 5;

    private static final double CLOSE_ENOUGH = 0.03;

    /** A machine that was busy with something else for a while is not worth more. */
    private static final double FACTOR_MAX = 1.5;

    private static final double SATURATED = 0.95;

    private final double wanted;
    private double ratePerS;
    private double busy;
    private int attempts;

    /**
     * @param wanted share of the processors, above 0 to 1
     * @param cpuUsPerEvent as fast as possible
     */
    public LoadSearch(double wanted, int processors, double cpuUsPerEvent) {
        this.wanted = wanted;
        this.ratePerS = wanted * processors * 1e6 / cpuUsPerEvent;
    }

    /** Events per second of the next attempt; after the last one, the answer. */
    public double ratePerS() {
        return ratePerS;
    }

    /** The share of the last attempt; 0 before it. */
    public double busy() {
        return busy;
    }

    /**
     * The attempt took that share of the processors.
     *
     * @return whether another attempt is worth it
     */
    public boolean tried(double share) {
        attempts++;
        busy = share;
        if (Math.abs(share - wanted) <= CLOSE_ENOUGH) {
            return false;
        }
        ratePerS *= Math.max(1 / FACTOR_MAX, Math.min(FACTOR_MAX, factor(share)));
        return attempts < ATTEMPTS_MAX;
    }

    /** Whether more is wanted than can be had: the last attempt was with the most already. */
    public boolean isBeyond(double mostPerS, double lastPerS) {
        return lastPerS >= mostPerS && ratePerS >= mostPerS;
    }

    private double factor(double share) {
        if (share <= 0) {
            return FACTOR_MAX;
        }
        return share >= SATURATED && wanted < SATURATED ? 1 / FACTOR_MAX : wanted / share;
    }
}
