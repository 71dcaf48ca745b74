package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import java.io.Serializable;
import java.util.BitSet;
import java.util.SplittableRandom;

/**
 * Which tuples a source sends twice at once, and which of the two was done first: blind replication
 * (Du &amp; Gupta 2016, section 5.1.1), as a baseline. Where to is Storm's choice. For the thread
 * of a source's task.
 */
final class Instances {
    private static final long PRIME = 1_000_003;

    private final StragglerPlan plan;
    private final BitSet replicated = new BitSet();
    private final BitSet acked = new BitSet();
    private final BitSet failed = new BitSet();

    Instances(StragglerPlan plan) {
        this.plan = plan;
    }

    /** The message id of an instance. */
    record Id(int number, boolean isSecond) implements Serializable {}

    /** Whether a second instance is to be sent, now; the same for the same plan and tuple. */
    boolean replicates(int number) {
        double share = plan.senders().replicatedShare();
        boolean isChosen =
                share > 0
                        && new SplittableRandom(plan.seed() * PRIME + number).nextDouble() < share;
        replicated.set(number, isChosen);
        return isChosen;
    }

    /** Whether that is an ack of the tuple, and not one of the instance that came later. */
    boolean acked(Id id) {
        boolean isLater = replicated.get(id.number) && acked.get(id.number);
        acked.set(id.number);
        return !isLater;
    }

    /** Whether the tuple has failed: no instance was done, or may still be. */
    boolean failed(Id id) {
        if (!replicated.get(id.number)) {
            return true;
        }
        boolean isLast = failed.get(id.number);
        failed.set(id.number);
        return isLast && !acked.get(id.number);
    }
}
