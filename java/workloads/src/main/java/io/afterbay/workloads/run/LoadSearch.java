package io.afterbay.workloads.run;

/**
 * Seeks the rate at which a job takes a given share of the processors' time. The first guess is
 * well below what the cost of an event as fast as possible allows: there, buffers are full and
 * nothing is paid per checkpoint. Then each attempt corrects the one before in proportion; one that
 * took all there is tells by what arrived.
 *
 * <p>Where disks are the limit, processors never get as busy as is wanted. So the rate stays below
 * what the job has shown that it can do: at first as fast as possible, and then in attempts, since
 * the first seconds of a program say little. An attempt in which all arrived in time shows that
 * more is possible; one in which it did not is the limit.
 */
public final class LoadSearch {
    /** Attempts, since each lasts for some checkpoints. */
    public static final int ATTEMPTS_MAX = 5;

    private static final double CLOSE_ENOUGH = 0.03;

    private static final double FIRST_GUESS = 0.6;

    /** A machine that was busy with something else for a while is not worth more. */
    private static final double FACTOR_MAX = 1.5;

    private static final double SATURATED = 0.95;

    /** Of the most that the job does, which it cannot do for long. */
    private static final double BEARABLE = 0.9;

    /** Of what is sent; more than the rest is not under way, but piles up. */
    private static final double KEPT_UP = 0.9;

    private final double wanted;
    private double ratePerS;
    private double mostPerS;
    private boolean isLimited;
    private double busy;
    private int attempts;

    /**
     * @param wanted share of the processors, above 0 to 1
     * @param cpuUsPerEvent as fast as possible
     * @param fastPerS events per second, as fast as possible
     */
    public LoadSearch(double wanted, int processors, double cpuUsPerEvent, double fastPerS) {
        this.wanted = wanted;
        this.ratePerS = FIRST_GUESS * wanted * processors * 1e6 / cpuUsPerEvent;
        this.mostPerS = BEARABLE * fastPerS;
    }

    /** Events per second of the next attempt; after the last one, the answer. */
    public double ratePerS() {
        return Math.min(ratePerS, mostPerS);
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
        double sentPerS = ratePerS();
        attempts++;
        busy = share;
        if (Math.abs(share - wanted) <= CLOSE_ENOUGH) {
            ratePerS = sentPerS;
            return false;
        }
        boolean isSaturated = share >= SATURATED && wanted < SATURATED;
        if (arrivedPerS < KEPT_UP * sentPerS && !isSaturated) {
            isLimited = true;
            mostPerS = Math.min(mostPerS, BEARABLE * arrivedPerS);
        } else if (!isLimited) {
            mostPerS = Math.max(mostPerS, sentPerS * FACTOR_MAX);
        }
        ratePerS =
                isSaturated
                        ? Math.min(sentPerS, arrivedPerS) * wanted / share
                        : sentPerS * factor(share);
        return attempts < ATTEMPTS_MAX && ratePerS() != sentPerS;
    }

    private double factor(double share) {
        return share <= 0 ? FACTOR_MAX : Math.min(FACTOR_MAX, wanted / share);
    }
}
