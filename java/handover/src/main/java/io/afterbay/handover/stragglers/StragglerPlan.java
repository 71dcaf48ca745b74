package io.afterbay.handover.stragglers;

import java.io.Serializable;

/**
 * A source and operators behind it, to which tuples come by a schedule that waits for nobody, as
 * one process tells it another.
 *
 * <pre>
 *   0          warmUpS                    warmUpS + countedS            + afterS
 *   |----------|==========================|------------------------------|
 *              latency counts;            the slow task is as fast as
 *              the slow task is slow      the others again
 * </pre>
 *
 * @param senders who chooses the task of a tuple
 * @param topology what tuples pass
 * @param load how many come, and how long tasks take
 * @param warmUpS seconds before tuples count
 * @param countedS seconds in which what is due counts
 * @param afterS seconds behind that, for the recovered task
 * @param seed of the schedule and of the times that tasks take
 */
public record StragglerPlan(
        Senders senders,
        StragglerTopology topology,
        Load load,
        double warmUpS,
        double countedS,
        double afterS,
        long seed)
        implements Serializable {

    /**
     * Who chooses the task of a tuple, and how often it is sent.
     *
     * @param technique what is done about slow tasks, by its name
     * @param grouping how a sender chooses a task without a technique that does it
     * @param prefersOwnWorker whether the engine's own grouping fills tasks in the sender's worker
     *     first
     * @param receiveBuffer how many tuples the input queue of a task has place for
     * @param replicatedShare of the tuples, chosen at random, that the source sends twice at once;
     *     the first to be done counts
     * @param replaysWhenBusy whether late tuples are replayed however busy queues and processors
     *     are
     */
    public record Senders(
            String technique,
            Grouping grouping,
            boolean prefersOwnWorker,
            int receiveBuffer,
            double replicatedShare,
            boolean replaysWhenBusy)
            implements Serializable {

        /** Whether a tuple may be sent more than once, by its source. */
        public boolean sendTwice() {
            return replicatedShare > 0 || technique.equals("replay");
        }
    }

    /**
     * How much there is to do.
     *
     * @param ratePerS tuples that are due in a second on average, at random (a Poisson process)
     * @param service how the times are distributed that a task takes
     * @param serviceMs mean time that a task takes for a tuple; it sleeps
     * @param slowdown how many times as long the first task of the first stage takes while tuples
     *     count; 1 for no slow task
     * @param busyShare share of the time of this machine's processors that is used up beside
     */
    public record Load(
            double ratePerS, Service service, double serviceMs, double slowdown, double busyShare)
            implements Serializable {}

    /** How a sender chooses a task. */
    public enum Grouping {
        /** The engine's own that looks at loads. */
        LOAD_AWARE,
        /** Round robin. */
        SHUFFLE,
        /** The paper's algorithm 2. */
        LATENCY_BALANCE,
        /** The rule of Storm 3: the one of two random tasks whose times differ less. */
        JITTER
    }

    /** Times that tasks take. */
    public enum Service {
        EXPONENTIAL,
        FIXED,
        /** Exponential, and now and then a task stands still. */
        PAUSES
    }

    /** Until when tuples are due, in seconds. */
    public double endS() {
        return countedUntilS() + afterS;
    }

    public double countedUntilS() {
        return warmUpS + countedS;
    }

    /** Whether what is due then counts. */
    public boolean counts(double dueS) {
        return dueS >= warmUpS && dueS < countedUntilS();
    }
}
