package io.afterbay.storm;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a spout's tuples are replayed.
 *
 * @param limits how much may be replayed
 * @param pendingMax {@code topology.max.spout.pending} of the spout itself; null if it is the
 *     topology's
 * @param bolts on the way of its tuples; null if the topology is to be asked for them in a worker
 */
record ReplayPlan(
        ReplayLimits limits,
        @Nullable Integer pendingMax,
        @Nullable List<String> bolts,
        ProcessorLoad processors)
        implements Serializable {}
