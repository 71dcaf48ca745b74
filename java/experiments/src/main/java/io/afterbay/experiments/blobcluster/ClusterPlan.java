package io.afterbay.experiments.blobcluster;

import io.afterbay.command.ByteSize;
import io.afterbay.experiments.PlanWithoutEngine;

/**
 * One run of a load on a cluster of blob stores.
 *
 * @param setting what makes it differ from others
 * @param times how long it is
 * @param tools where the programs are
 */
record ClusterPlan(ClusterTrial.Setting setting, Times times, Tools tools)
        implements PlanWithoutEngine {

    /**
     * @param warmUpMs before anything counts
     * @param countedMs of puts and gets; the phases of a kill are in the setting
     * @param phaseRequests that have to be answered in each phase of a kill at least
     */
    record Times(long warmUpMs, long countedMs, long phaseRequests) {}

    /**
     * Programs.
     *
     * @param load of the module {@code blob-bench}
     * @param server the blob store's
     */
    record Tools(String load, String server) {}

    ClusterVariant variant() {
        return ClusterVariant.named(setting.variant());
    }

    ClusterOperation operation() {
        return ClusterOperation.named(setting.operation());
    }

    @Override
    public int pair() {
        return setting.pair();
    }

    @Override
    public String title() {
        return "%s, %s, %d clients%s, %s, pair %d"
                .formatted(
                        setting.operation(),
                        new ByteSize(setting.sizeBytes()),
                        setting.clients(),
                        setting.isKill() ? ", %d/s".formatted(setting.ratePerS()) : "",
                        setting.variant(),
                        setting.pair());
    }

    /** The run without figures. */
    ClusterTrial trial() {
        return ClusterTrial.none(setting);
    }
}
