package io.afterbay.storm;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a spout's tuples are replayed.
 *
 * @param share of the traffic that may be replayed, from 0 to 0.2
 * @param pendingMax {@code topology.max.spout.pending} of the spout itself; null if it is the
 *     topology's
 * @param bolts on the way of its tuples
 */
record ReplayPlan(
        double share, @Nullable Integer pendingMax, List<String> bolts, ProcessorLoad processors)
        implements Serializable {}
