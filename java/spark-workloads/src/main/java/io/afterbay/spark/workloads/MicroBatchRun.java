package io.afterbay.spark.workloads;

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
            query.awaitEndOfSchedule(() -> before.set(ProcessCost.now()), () -> say(query));
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
                    new Answers(plan.seed(), plan.recordsPerS(), plan.records()).sum(plan.query());
            return new MicroBatchReport(
                    null,
                    LocalSpark.VERSION,
                    query.sink().sum().toString(),
                    expected.toString(),
                    figures.times(),
                    figures.partsMs(),
                    figures.bySnapshots(),
                    after.since(before.get(), plan.recordsPerS() * plan.countedMs() / 1000),
                    null,
                    ProcessCost.cpuMillis());
        }
    }

    private void say(RunningQuery query) {
        boolean isWarm = Pace.micros() >= query.pace().countsFromMicros();
        say(isWarm ? "counting" : "warming up", query);
    }

    private void say(String phase, RunningQuery query) {
        Handover.say(phase, query.pace().released(), plan.records(), query.sink().sum().rows());
    }
}
