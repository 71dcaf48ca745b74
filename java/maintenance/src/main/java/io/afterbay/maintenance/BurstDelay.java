package io.afterbay.maintenance;

/**
 * How long compactions wait after a burst of flushes: until the events that queued up during the
 * burst are processed, T = Q / C = λ·Δt / C (ShadowSync, equations 1 and 2), with λ and C estimated
 * while the job runs.
 *
 * <p>Without an estimate T is Δt: a job that keeps up has λ &lt; C, and so T &lt; Δt. The equation
 * leaves out what arrives while the queue drains; the exact time λ·Δt / (C - λ) grows without bound
 * near saturation, where waiting longer only delays the compactions that must happen.
 *
 * <p>No clock inside. Not safe for use by several threads.
 */
public final class BurstDelay {
    private static final long HALF_LIFE_NANOS = 30_000_000_000L;

    private final long floorNanos;
    private final long capNanos;
    private final Rate arrivals = new Rate(HALF_LIFE_NANOS);
    private final Rate drains = new Rate(HALF_LIFE_NANOS);

    /**
     * @param capNanos the longest delay; well below the interval of checkpoints, or else the
     *     compactions of one burst meet the flushes of the next
     */
    public BurstDelay(long capNanos) {
        this(0, capNanos);
    }

    /**
     * @param floorNanos the shortest delay, at most the cap: where a burst is seen only by its
     *     flushes, it bridges the gaps between them
     * @param capNanos as above
     */
    public BurstDelay(long floorNanos, long capNanos) {
        if (floorNanos < 0 || capNanos < floorNanos) {
            throw new IllegalArgumentException(
                    "the floor is 0 ns or more and the cap not below it, not "
                            + floorNanos
                            + " and "
                            + capNanos);
        }
        this.floorNanos = floorNanos;
        this.capNanos = capNanos;
    }

    /**
     * T of equation 2.
     *
     * @param arrivalsPerSecond λ, events per second, 0 or more
     * @param burstNanos Δt, how long events queued up, 0 or more
     * @param capacityPerSecond C, events per second at full speed, above 0
     * @return nanoseconds
     */
    public static double drainNanos(
            double arrivalsPerSecond, long burstNanos, double capacityPerSecond) {
        if (!(arrivalsPerSecond >= 0) || burstNanos < 0 || !(capacityPerSecond > 0)) {
            throw new IllegalArgumentException(
                    "no drain time for an arrival rate of "
                            + arrivalsPerSecond
                            + "/s, a burst of "
                            + burstNanos
                            + " ns and a capacity of "
                            + capacityPerSecond
                            + "/s");
        }
        return arrivalsPerSecond * burstNanos / capacityPerSecond;
    }

    /** Events arrived in that time, at any load: λ. */
    public void arrived(long events, long nanos) {
        arrivals.observe(events, nanos);
    }

    /** Events were processed in that time, during which some always waited: C. */
    public void drained(long events, long nanos) {
        drains.observe(events, nanos);
    }

    /** The delay after a burst of that length, from the floor to the cap. */
    public long delayNanos(long burstNanos) {
        double nanos = Math.max(0, burstNanos);
        if (arrivals.isKnown() && drains.isKnown() && drains.perSecond() > 0) {
            nanos = drainNanos(arrivals.perSecond(), (long) nanos, drains.perSecond());
        }
        return (long) Math.max(floorNanos, Math.min(nanos, capNanos));
    }
}
