package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerReport;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.apache.storm.utils.VersionInfo;
import org.jspecify.annotations.Nullable;

/**
 * What the log of a trial says at its end.
 *
 * @param replays what Storm's metrics said of them
 */
record TrialFigures(TrialLog log, ReplayFigures replays) {
    private static final double NANOS_PER_MS = 1e6;

    StragglerReport report(double cpuUsPerTuple, long cpuMs) {
        return new StragglerReport(
                null,
                VersionInfo.getVersion(),
                new StragglerReport.Acks(
                        log.schedule().tuples(), log.ackedTuples(), log.twice(), log.failures()),
                latency(),
                log.queueTimes().figures(),
                new StragglerReport.Tasks(
                        IntStream.range(0, log.plan().topology().stages().size())
                                .mapToObj(log::countedExecutions)
                                .toList(),
                        moved(),
                        log.bySecond(),
                        log.ofFirstTaskBySecond()),
                new StragglerReport.Cost(cpuUsPerTuple),
                repeats(),
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

    private @Nullable Double moved() {
        if (log.plan().senders().sendTwice()) {
            return null;
        }
        long moved = 0;
        long all = 0;
        for (int edge = 0; edge < log.edges().size(); edge++) {
            for (int number = 0; number < log.schedule().tuples(); number++) {
                if (counts(number)) {
                    all++;
                    moved += log.sentTo(edge, number) == log.executedBy(edge, number) ? 0 : 1;
                }
            }
        }
        return all == 0 ? 0 : (double) moved / all;
    }

    private boolean counts(int number) {
        StragglerPlan plan = log.plan();
        return plan.counts(log.schedule().dueS(number));
    }

    private StragglerReport.Repeats repeats() {
        long needed = (long) log.schedule().tuples() * log.edges().size();
        return new StragglerReport.Repeats(
                log.repeats() + replays.sent(),
                log.repeatsWon() + replays.won(),
                (double) (log.executions() - needed) / Math.max(1, needed),
                known(replays.closed()),
                known(replays.queues()),
                known(replays.processors()));
    }

    private static @Nullable Double known(double share) {
        return Double.isNaN(share) ? null : share;
    }
}
