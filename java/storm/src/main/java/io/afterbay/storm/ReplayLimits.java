package io.afterbay.storm;

import io.afterbay.stragglers.ReplayBudget;
import java.io.Serializable;

/**
 * How much may be replayed.
 *
 * @param share of the traffic, from 0 to 0.2
 * @param queues the utilisation of the busiest bolt up to which it may, from 0 to 1
 * @param processors the same of the machine's processors
 */
record ReplayLimits(double share, double queues, double processors) implements Serializable {
    /** The paper's, and a share that is a good choice. */
    static final ReplayLimits DEFAULT =
            new ReplayLimits(
                    ReplayBudget.SHARE_DEFAULT,
                    ReplayBudget.QUEUE_UTILISATION_MAX,
                    ReplayBudget.CPU_UTILISATION_MAX);

    ReplayBudget budget() {
        return new ReplayBudget(share, ReplayBudget.BURST_DEFAULT, queues, processors);
    }
}
