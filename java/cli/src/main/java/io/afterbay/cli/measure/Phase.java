package io.afterbay.cli.measure;

/**
 * A part of a compared run, with a job of its own.
 *
 * @param name for the progress, and of the job's statistics
 * @param events after which the job ends; of those that it never reaches, it is stopped
 * @param rampUpEvents how many of them are not counted, because state has not its full size yet
 * @param ratePerS events per second of an open loop, or 0 for as fast as possible
 */
public record Phase(String name, long events, long rampUpEvents, double ratePerS) {
    public static final String CLOSED_LOOP = "closed loop";
    public static final String OPEN_LOOP = "open loop";

    public static final String AS_IT_IS = "run";

    private static final String WARM_UP = "warm-up";

    /** Without an end. */
    public static Phase warmUp() {
        return new Phase(WARM_UP, Long.MAX_VALUE, 0, 0);
    }

    /** As fast as possible, as many counted events as the target has. */
    public static Phase closedLoop(Target target) {
        return counted(CLOSED_LOOP, target.events(), target, 0);
    }

    /** Somebody else's job, as it is. */
    public static Phase foreign() {
        return new Phase(AS_IT_IS, Long.MAX_VALUE, 0, 0);
    }

    /** At a rate, for a time. */
    public static Phase openLoop(Target target, double ratePerS, long millis) {
        return counted(OPEN_LOOP, Math.max(1, (long) (ratePerS * millis / 1e3)), target, ratePerS);
    }

    /** The state of small runs does not get its full size; their ramp-up is no reason to wait. */
    private static Phase counted(String name, long counted, Target target, double ratePerS) {
        long rampUp = Math.min(target.rampUpEvents(), counted / 2);
        return new Phase(name, rampUp + counted, rampUp, ratePerS);
    }

    public long countedEvents() {
        return events - rampUpEvents;
    }
}
