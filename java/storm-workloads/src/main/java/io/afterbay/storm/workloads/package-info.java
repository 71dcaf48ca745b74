/**
 * Topologies on Storm with a cluster in the process: {@code ./afterbay run exclamation}.
 *
 * <pre>
 *  Exclamation (the program) --&gt; EmbeddedStorm: LocalCluster, ZooKeeper on the loopback
 *       |                            |
 *       |                            +-- ScheduledSpout --&gt; exclaim1 --&gt; exclaim2 --&gt; exclaim3
 *       +-- Measured &lt;--------------------- due, acked, failed, executed
 * </pre>
 */
@NullMarked
package io.afterbay.storm.workloads;

import org.jspecify.annotations.NullMarked;
