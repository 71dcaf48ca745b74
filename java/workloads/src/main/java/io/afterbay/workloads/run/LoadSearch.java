package io.afterbay.workloads.run;

/**
 * Seeks the rate at which a job takes a given share of the processors' time. The first guess is
 * well below what the cost of an event as fast as possible allows: there, buffers are full and
 * nothing is paid per checkpoint. Then each attempt corrects the one before in proportion; one that
 * took all there is tells by what arrived.
 */
public final class LoadSearch {
    /** Attempts, since each lasts for some checkpoints. */
    public static final int ATTEMPTS_MAX = 5;

    private static final double CLOSE_ENOUGH = 0.03;

    private static final double FIRST_GUESS = 0.6;

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
        this.ratePerS = FIRST_GUESS * wanted * processors * 1e6 / cpuUsPerEvent;
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
     * The attempt took that share of the processors, and so many events arrived per second.
     *
     * @return whether another attempt is worth it
     */
    public boolean tried(double share, double arrivedPerS) {
        attempts++;
        busy = share;
        if (Math.abs(share - wanted) <= CLOSE_ENOUGH) {
            return false;
        }
        ratePerS =
                share >= SATURATED && wanted < SATURATED
                        ? Math.min(ratePerS, arrivedPerS) * wanted / share
                        : ratePerS * factor(share);
        return attempts < ATTEMPTS_MAX;
    }

    /** Whether more is wanted than can be had: the last attempt was with the most already. */
    public boolean isBeyond(double mostPerS, double lastPerS) {
        return lastPerS >= mostPerS && ratePerS >= mostPerS;
    }

    private double factor(double share) {
        return share <= 0 ? FACTOR_MAX : Math.min(FACTOR_MAX, wanted / share);
    }
}
