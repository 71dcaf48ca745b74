package io.afterbay.experiments.spark;

import io.afterbay.command.ByteSize;
import io.afterbay.experiments.PlanWithoutEngine;
import io.afterbay.workloads.microbatch.MicroBatchPlan;
import java.util.Locale;

/**
 * One run of a query on Spark.
 *
 * @param setting what makes it differ from others
 * @param heap of the process with Spark
 * @param run the same for the process with Spark; its checkpoint is not known yet
 */
record SparkPlan(SparkTrial.Setting setting, ByteSize heap, MicroBatchPlan run)
        implements PlanWithoutEngine {

    @Override
    public int pair() {
        return setting.pair();
    }

    @Override
    public String title() {
        return String.format(
                Locale.ROOT,
                "%s, %s DFS, %s, %d partitions, %s, %s, pair %d",
                setting.query(),
                setting.dfs(),
                setting.triggerMs() == 0
                        ? "no trigger"
                        : "a batch every %d ms".formatted(setting.triggerMs()),
                setting.partitions(),
                setting.isSearch() ? "seeks the rate" : setting.ratePerS() + "/s",
                setting.variant(),
                setting.pair());
    }

    /** The run without figures. */
    SparkTrial trial() {
        return SparkTrial.none(setting);
    }
}
