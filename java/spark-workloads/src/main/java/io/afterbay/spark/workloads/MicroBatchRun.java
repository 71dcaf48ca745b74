package io.afterbay.spark.workloads;

import io.afterbay.handover.WorkerStatus;
import io.afterbay.workloads.microbatch.Answers;
import io.afterbay.workloads.microbatch.MicroBatchPlan;
import io.afterbay.workloads.microbatch.MicroBatchReport;
import io.afterbay.workloads.run.RowSum;
import java.util.concurrent.atomic.AtomicReference;

/** A query at a rate, from its start to its report. */
final class MicroBatchRun {
    private final MicroBatchPlan plan;
    private final LocalSpark spark;

    MicroBatchRun(MicroBatchPlan plan, LocalSpark spark) {
        this.plan = plan;
        this.spark = spark;
    }

    MicroBatchReport report() throws RunFailure, InterruptedException {
        try (RunningQuery query = RunningQuery.start(plan, spark)) {
            AtomicReference<ProcessCost> before = new AtomicReference<>(ProcessCost.now());
            query.awaitEndOfSchedule(
                    batches -> batches.size() >= plan.batchesMin(),
                    () -> before.set(ProcessCost.now()),
                    () -> say(query));
            ProcessCost after = ProcessCost.now();
            say("draining", query);
            query.awaitRows();
            BatchFigures figures = query.figures();
            if (figures.isEmpty()) {
                throw new RunFailure(
                        new IllegalStateException("no batch began behind the warm-up"));
            }
            say("checking", query);
            RowSum expected =
                    new Answers(plan.seed(), plan.recordsPerS(), query.pace().records())
                            .sum(plan.query());
            return new MicroBatchReport(
                    null,
                    LocalSpark.VERSION,
                    query.sink().sum().toString(),
                    expected.toString(),
                    figures.times(),
                    figures.partsMs(),
                    figures.bySnapshots(),
                    after.since(before.get(), counted(query)),
                    null,
                    ProcessCost.cpuMillis());
        }
    }

    /** Records that came behind the warm-up. */
    private long counted(RunningQuery query) {
        long planned = plan.recordsPerS() * plan.countedMs() / 1000;
        return planned + query.pace().records() - plan.records();
    }

    private void say(RunningQuery query) {
        boolean isWarm = Pace.micros() >= query.pace().countsFromMicros();
        say(isWarm ? "counting" : "warming up", query);
    }

    private void say(String phase, RunningQuery query) {
        // All records change by themselves while a query hangs, and what is said must not then.
        long released = query.pace().released();
        long records = Math.max(released, plan.records());
        new WorkerStatus(phase, released, records, query.sink().sum().rows()).say();
    }
}
