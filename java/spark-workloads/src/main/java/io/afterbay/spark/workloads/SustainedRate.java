package io.afterbay.spark.workloads;

import io.afterbay.handover.WorkerStatus;
import io.afterbay.workloads.microbatch.EventTimes;
import io.afterbay.workloads.microbatch.MicroBatchPlan;
import io.afterbay.workloads.microbatch.MicroBatchReport;
import io.afterbay.workloads.microbatch.RateSearch;

/**
 * Seeks the highest rate at which nine of ten batches take no longer than the limit: at a higher
 * one, each batch finds more records than the one before. Each attempt is a query of its own with a
 * checkpoint of its own, in the same process.
 */
final class SustainedRate {
    private static final int FIRST_PER_S = 2500;
    private static final int MOST_PER_S = EventTimes.RECORDS_PER_S_MAX / 4;
    private static final double PERCENT = 90;

    private final MicroBatchPlan plan;
    private final LocalSpark spark;
    private final RateSearch search;

    SustainedRate(MicroBatchPlan plan, LocalSpark spark) {
        this(plan, spark, new RateSearch(FIRST_PER_S, MOST_PER_S));
    }

    SustainedRate(MicroBatchPlan plan, LocalSpark spark, RateSearch search) {
        this.plan = plan;
        this.spark = spark;
        this.search = search;
    }

    MicroBatchReport report() throws RunFailure, InterruptedException {
        int attempt = 1;
        while (search.tried(isSustained(search.next(), attempt))) {
            attempt++;
        }
        return MicroBatchReport.found(
                LocalSpark.VERSION, search.sustained(), ProcessCost.cpuMillis());
    }

    private boolean isSustained(int rate, int attempt) throws RunFailure, InterruptedException {
        MicroBatchPlan one = plan.at(rate, plan.checkpoint() + "-" + attempt);
        try (RunningQuery query = RunningQuery.start(one, spark)) {
            String phase = "attempt %d at %d/s".formatted(attempt, rate);
            query.awaitEndOfSchedule(
                    this::areEnough,
                    () -> {},
                    () -> new WorkerStatus(phase, query.pace().released(), one.records(), 0).say());
            query.awaitRows();
            BatchFigures figures = query.figures();
            return figures.size() >= plan.batchesMin() && areInTime(figures);
        }
    }

    /** Also if one has taken too long: of so few it decides. */
    private boolean areEnough(BatchFigures batches) {
        return batches.size() >= plan.batchesMin() || (!batches.isEmpty() && !areInTime(batches));
    }

    private boolean areInTime(BatchFigures batches) {
        return batches.percentile(PERCENT, Batch::millis) <= plan.limitMs();
    }
}
