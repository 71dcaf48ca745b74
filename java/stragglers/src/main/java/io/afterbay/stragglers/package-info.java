/**
 * What keeps one slow task, or one long queue, from making the tail of an operator's latency (Du
 * and Gupta, "New Techniques to Curtail the Tail Latency in Stream Processing Systems", 2016; "the
 * paper" below). No engine and no I/O: a binding brings the tuples, and clocks are given.
 *
 * <pre>
 *   source             sender               process with several tasks of an operator
 *
 *   Replays --tuple--&gt; TaskChooser --task--&gt; SharedQueue --+--&gt; any task that is free
 *     |  ^               |      ^             own lanes ----+--&gt; the one that must have it
 *     |  |               |      |                                  |
 *     |  |               |      +------- completed, failed --------+
 *     |  +---------------|-------------- finished, failed ---------+
 *     |                  |
 *     |                  +-- TwoChoices: looks at each tuple
 *     |                  +-- LatencyBalance: the paper's, every 5 s
 *     |
 *     +-- AdaptiveTimeout: is it late?
 *     +-- ReplayBudget: may it be replayed?
 * </pre>
 *
 * <p>Three means, for three causes (the paper, section 5.1.4):
 *
 * <ul>
 *   <li>single tuples that are late in a system with room to spare: {@link
 *       io.afterbay.stragglers.Replays}, off unless a user asks for it;
 *   <li>queues that are long at one task while its neighbour is free: {@link
 *       io.afterbay.stragglers.SharedQueue};
 *   <li>tasks that are slower than others: {@link io.afterbay.stragglers.TwoChoices}, with {@link
 *       io.afterbay.stragglers.LatencyBalance} as the baseline. Where nobody tells a sender how
 *       long tasks take, {@link io.afterbay.stragglers.WeightedTurns} gives each its share.
 * </ul>
 *
 * <p>{@link io.afterbay.stragglers.TaskChooser} is the place to begin reading. Times are in
 * nanoseconds of one clock, such as {@link System#nanoTime}. Only differences count, so that it may
 * overflow. A clock that stands still or goes back makes no policy fail.
 */
@NullMarked
package io.afterbay.stragglers;

import org.jspecify.annotations.NullMarked;
