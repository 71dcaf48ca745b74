package io.afterbay.maintenance;

/**
 * How long compactions wait after a burst of flushes: until the events that queued up during the
 * burst are processed, T = Q / C = λ·Δt / C (ShadowSync, equations 1 and 2), with λ and C estimated
 * while the job runs.
 *
 * <p>Who cannot count events may tell how busy the processors are in calm times instead. At full
 * speed, all of them are; at λ, a share u of them is, if an event costs the same either way. So C =
 * λ/u, and T = λ·Δt / (λ/u) = u·Δt. Where one thread is the limit rather than the processors, C is
 * less than that, and T too short; it never is longer than Δt.
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
    private final Rate calm = new Rate(HALF_LIFE_NANOS);
    private long lastNanos;

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

    /**
     * In that time no event waited for long and nothing was flushed or compacted: λ/C. Counts until
     * both rates are known.
     *
     * @param busyNanos of it, the mean of the processors
     */
    public void calm(long busyNanos, long nanos) {
        calm.observe(Math.min(busyNanos, nanos), nanos);
    }

    /** The delay after a burst of that length, from the floor to the cap. */
    public long delayNanos(long burstNanos) {
        double nanos = drainNanos(Math.max(0, burstNanos));
        lastNanos = (long) Math.max(floorNanos, Math.min(nanos, capNanos));
        return lastNanos;
    }

    private double drainNanos(long burstNanos) {
        if (arrivals.isKnown() && drains.isKnown() && drains.perSecond() > 0) {
            return drainNanos(arrivals.perSecond(), burstNanos, drains.perSecond());
        }
        return calm.isKnown() ? drainNanos(calm.perSecond() / 1e9, burstNanos, 1) : burstNanos;
    }

    /** What {@link #delayNanos} said last, or 0. */
    public long lastNanos() {
        return lastNanos;
    }
}
