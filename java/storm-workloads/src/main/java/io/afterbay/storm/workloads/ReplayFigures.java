package io.afterbay.storm.workloads;

/**
 * What a run's spouts said of their replays.
 *
 * @param sent words that were emitted a second time
 * @param won of these, words whose second incarnation came first
 * @param refused words that were late, the oldest under way, and refused by the budget
 * @param closed the share of the time for which the budget was closed, from 0 to 1
 * @param queues ρ of the busiest bolt, from 0 to 1: the mean while the budget was closed, or if it
 *     never was, of all the time; NaN if it was never known
 * @param processors how busy they were, as above
 */
record ReplayFigures(
        long sent, long won, long refused, double closed, double queues, double processors) {}
