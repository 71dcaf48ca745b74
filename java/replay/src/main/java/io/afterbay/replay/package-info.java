/**
 * Runs a job over a range of its past, at a rate that can be changed while it runs, without a
 * change to the job: the graph that its main method built gets other sources (Samza, VLDB 2017,
 * section 3.4.2, for any job of Flink).
 *
 * <pre>
 *   main of a job --&gt; StreamGraph --ReplayGraph.rewrite--&gt; the same graph, its sources replaced
 *                                       |
 *                                       +-- Bounding, KafkaSources, FileSources: the source is made to end
 *                                       +-- Idleness: no watermark leaves out who is held back
 *                                       +-- KafkaSinks: transactions of its own
 *                                       +-- KafkaMerges: what the live job writes there wins
 *
 *   command                  JobManager                             TaskManagers
 *
 *   setRate --&gt; rate ------&gt; ReplayEnumerator --- PaceEvent ------&gt; ReplayReader
 *   progress &lt;- progress-n &lt;---  | Shares, Counts &lt;- CountEvent ---   | Pace: whether to poll
 *             ReplayControl      v                                    | RangeOutput: what passes
 *             (files)       the source's enumerator                   v
 *                                     --- splits -----------------&gt; the source's reader --&gt; job
 * </pre>
 *
 * <p>{@link io.afterbay.replay.ReplayGraph} is the place to begin reading. This package knows Flink
 * and nothing else of Afterbay; connectors are those of the job, met by reflection. It goes with
 * the job to the cluster.
 */
@NullMarked
package io.afterbay.replay;

import org.jspecify.annotations.NullMarked;
