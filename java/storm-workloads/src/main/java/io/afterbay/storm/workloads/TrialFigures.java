package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerReport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.apache.storm.utils.VersionInfo;

/** What the log of a trial says at its end. */
record TrialFigures(TrialLog log) {
    private static final double NANOS_PER_MS = 1e6;

    StragglerReport report(double cpuUsPerTuple, long cpuMs) {
        return new StragglerReport(
                null,
                VersionInfo.getVersion(),
                new StragglerReport.Acks(
                        log.schedule().tuples(), log.ackedTuples(), log.twice(), log.failures()),
                latency(),
                new StragglerReport.Tasks(executed(), moved(), bySecond(false), bySecond(true)),
                new StragglerReport.Cost(cpuUsPerTuple),
                cpuMs);
    }

    private StragglerReport.Latency latency() {
        Histogram of = log.latencies();
        return new StragglerReport.Latency(
                ms(of, 50),
                ms(of, 90),
                ms(of, 95),
                ms(of, 99),
                ms(of, 99.9),
                ms(of, 100),
                of.getTotalCount() / (log.lastCountedS() - log.plan().warmUpS()));
    }

    private static double ms(Histogram of, double percent) {
        return of.getValueAtPercentile(percent) / NANOS_PER_MS;
    }

    private List<List<Long>> executed() {
        List<List<Long>> stages = new ArrayList<>();
        for (int stage = 0; stage < log.plan().stages(); stage++) {
            long[] tasks = new long[log.plan().tasks()];
            for (int number = 0; number < log.schedule().tuples(); number++) {
                if (counts(number)) {
                    tasks[log.executedBy(stage, number)]++;
                }
            }
            stages.add(LongStream.of(tasks).boxed().toList());
        }
        return stages;
    }

    private long moved() {
        long moved = 0;
        for (int stage = 0; stage < log.plan().stages(); stage++) {
            for (int number = 0; number < log.schedule().tuples(); number++) {
                boolean isMoved = log.sentTo(stage, number) != log.executedBy(stage, number);
                moved += counts(number) && isMoved ? 1 : 0;
            }
        }
        return moved;
    }

    /**
     * @param ofFirstTask whether only what the first task did
     */
    private List<Long> bySecond(boolean ofFirstTask) {
        StragglerPlan plan = log.plan();
        List<Long> counts = new ArrayList<>(Collections.nCopies((int) Math.ceil(plan.endS()), 0L));
        for (int number = 0; number < log.schedule().tuples(); number++) {
            if (!ofFirstTask || log.executedBy(0, number) == 0) {
                int second = (int) log.schedule().dueS(number);
                counts.set(second, counts.get(second) + 1);
            }
        }
        return counts;
    }

    private boolean counts(int number) {
        return log.plan().counts(log.schedule().dueS(number));
    }
}
