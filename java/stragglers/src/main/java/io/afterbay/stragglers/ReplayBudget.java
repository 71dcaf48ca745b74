package io.afterbay.stragglers;

/**
 * How many tuples may be replayed: a share of the traffic, and none while the system is busy.
 *
 * <p>A bucket of tokens. Each tuple that is emitted for the first time adds its share of a token, a
 * replay takes a whole one, and what does not fit the bucket is lost. So of any {@code n} tuples in
 * a row at most {@code share * n + burst} are replayed, and the bucket needs no clock.
 *
 * <p>Replays are work. The paper found that they help below {@value #QUEUE_UTILISATION_MAX}
 * utilisation of the queues and {@value #CPU_UTILISATION_MAX} of the processors (section 5.1.4),
 * and not above. The budget is closed above either, or other limits if they are given, and until it
 * has been told of both.
 *
 * <p>Safe for use by any thread; the source tasks of a process may share one.
 */
public final class ReplayBudget {
    /** The share of the traffic that is a good choice: 2 %. The paper spent 2.92 % (table 2). */
    public static final double SHARE_DEFAULT = 0.02;

    /** Above this share of the traffic, replays are no remedy for a tail. */
    public static final double SHARE_MAX = 0.2;

    /** Tokens in a full bucket that are a good choice. */
    public static final int BURST_DEFAULT = 10;

    /** Above this utilisation of the queues, between 0 and 1, nothing is replayed. */
    public static final double QUEUE_UTILISATION_MAX = 0.58;

    /** Above this utilisation of the processors, between 0 and 1, nothing is replayed. */
    public static final double CPU_UTILISATION_MAX = 0.49;

    /** Tokens are counted in millionths, so that sums are exact. */
    private static final long TOKEN = 1_000_000;

    private final long creditPerTuple;
    private final long creditMax;
    private final double queuesMax;
    private final double processorsMax;
    private long credit;
    private boolean isOpen;
    private long replays;
    private long refusals;

    /**
     * With the paper's limits of utilisation.
     *
     * @param share of the traffic, from 0 for no replays to {@value #SHARE_MAX}; exact to a
     *     millionth
     * @param burst tokens in a full bucket, 1 or more
     * @throws IllegalArgumentException if one of them is out of its range
     */
    public ReplayBudget(double share, int burst) {
        this(share, burst, QUEUE_UTILISATION_MAX, CPU_UTILISATION_MAX);
    }

    /**
     * @param share of the traffic, from 0 for no replays to {@value #SHARE_MAX}; exact to a
     *     millionth
     * @param burst tokens in a full bucket, 1 or more
     * @param queuesMax above this utilisation of the queues nothing is replayed; from 0 to 1, which
     *     is no limit
     * @param processorsMax the same of the processors
     * @throws IllegalArgumentException if one of them is out of its range
     */
    public ReplayBudget(double share, int burst, double queuesMax, double processorsMax) {
        if (!(share >= 0 && share <= SHARE_MAX)) {
            throw new IllegalArgumentException(
                    "the share of replays must be within 0.." + SHARE_MAX + ", not " + share);
        }
        if (burst < 1) {
            throw new IllegalArgumentException(
                    "the burst of replays must be 1 or more, not " + burst);
        }
        checkLimit("queues", queuesMax);
        checkLimit("processors", processorsMax);
        this.queuesMax = queuesMax;
        this.processorsMax = processorsMax;
        this.creditPerTuple = Math.round(share * TOKEN);
        this.creditMax = burst * TOKEN;
    }

    private static void checkLimit(String of, double utilisation) {
        if (!(utilisation >= 0 && utilisation <= 1)) {
            throw new IllegalArgumentException(
                    "the utilisation of the "
                            + of
                            + " up to which tuples are replayed must be within 0..1, not "
                            + utilisation);
        }
    }

    /** A tuple was emitted for the first time. */
    public synchronized void emitted() {
        credit = Math.min(creditMax, credit + creditPerTuple);
    }

    /**
     * How busy the system has been lately. To be told once a second or so; until the next time, the
     * budget stays as open or closed as this makes it.
     *
     * @param queues ρ of the busiest queue on the way, arrivals times service time and not how full
     *     it is; NaN if it is not known, which closes the budget
     * @param processors the share of their time that the machine's processors were busy; NaN as
     *     above
     */
    public synchronized void utilisation(double queues, double processors) {
        isOpen = queues <= queuesMax && processors <= processorsMax;
    }

    /** Takes a token for one replay; false if there is none, or the budget is closed. */
    public synchronized boolean tryReplay() {
        if (!isOpen || credit < TOKEN) {
            refusals++;
            return false;
        }
        credit -= TOKEN;
        replays++;
        return true;
    }

    /** Whether the system is so little busy that replays may help. */
    public synchronized boolean isOpen() {
        return isOpen;
    }

    /** How often {@link #tryReplay} has said yes. */
    public synchronized long replays() {
        return replays;
    }

    /** How often {@link #tryReplay} has said no. */
    public synchronized long refusals() {
        return refusals;
    }
}
