/**
 * Three techniques of {@link io.afterbay.stragglers} on Apache Storm 2.8 and 3, without a change of
 * Storm or of a topology's code.
 *
 * <pre>
 *   Stragglers.on(topology, settings)          at submission: wraps and regroups, or refuses
 *   StragglerPieces                            the same by hand; a Mark says what is wrapped
 *
 *   sender -- BalancedGrouping --&gt; MeasuredBolt      a slow task gets less
 *                ^                     |
 *                +------- Edge --------+  how long a tuple took; within a worker
 *                          ^
 *   AttributingSpout ------+              how long the path behind a task took; by acks
 *
 *   sender -- SharedShuffle --&gt; SharedBolt --&gt; BoltQueue --&gt; any task of the bolt in the worker
 *
 *   ReplayedSpout -- AvoidingShuffle --&gt; TimedBolt   what is late goes to another task, too
 *        ^                                  |
 *        +---------- BusyTimes -------------+  whether there is room for it
 * </pre>
 */
@NullMarked
package io.afterbay.storm;

import org.jspecify.annotations.NullMarked;
