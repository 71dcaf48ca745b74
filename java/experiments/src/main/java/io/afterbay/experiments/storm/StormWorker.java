package io.afterbay.experiments.storm;

import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.ThirdProcess;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.handover.stragglers.StragglerReport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The second process of the experiment on Storm: starts a third one with its libraries, passes on
 * how far that is, and makes its report a trial.
 */
final class StormWorker extends TrialWorker<StormPlan, StormTrial> {
    private static final String LOG = "storm.log";
    private static final double PERCENT = 100;

    private StormWorker(Start<StormPlan> start) {
        super(start);
    }

    public static void main(String[] args) throws Exception {
        main(StormPlan.class, StormWorker::new);
    }

    @Override
    protected StormTrial trial() throws Exception {
        StragglerReport report = report();
        StragglerReport.Acks acks = Objects.requireNonNull(report.acks());
        return plan.trial()
                .with(
                        new StormTrial.Outcome(
                                null,
                                report.engine(),
                                acks.tuples(),
                                acks.acked(),
                                acks.ackedTwice(),
                                acks.failed()),
                        latency(report),
                        shares(Objects.requireNonNull(report.tasks())),
                        repeats(Objects.requireNonNull(report.repeats())))
                .with(waits(report.queueing()));
    }

    @Override
    protected StormTrial failed(String reason) {
        return plan.trial().failed(reason);
    }

    private StragglerReport report() throws CommandFailure, IOException, InterruptedException {
        Path storm = directory.resolve("s");
        Path log = directory.resolve(LOG);
        return new ThirdProcess(
                        "Storm",
                        storm,
                        log,
                        StormLauncher.HEAP,
                        "use a lower load or a shorter --open")
                .run(
                        () -> StormLauncher.builder(storm, directory, engine.verbose(), log),
                        plan.run(),
                        StragglerReport.class,
                        handover);
    }

    private static StormTrial.Latency latency(StragglerReport report) {
        StragglerReport.Latency of = Objects.requireNonNull(report.latency());
        return new StormTrial.Latency(
                of.p50Ms(),
                of.p90Ms(),
                of.p95Ms(),
                of.p99Ms(),
                of.p999Ms(),
                of.maxMs(),
                of.perS(),
                Objects.requireNonNull(report.cost()).cpuUsPerTuple());
    }

    private static StormTrial.Waits waits(StragglerReport.@Nullable Queueing of) {
        return of == null
                ? StormTrial.Waits.NONE
                : new StormTrial.Waits(of.heldMs(), of.waitMs(), of.serviceMs());
    }

    private StormTrial.Shares shares(StragglerReport.Tasks tasks) {
        List<Long> first = tasks.executed().get(0);
        long counted = first.stream().mapToLong(Long::longValue).sum();
        List<Double> bySecond =
                IntStream.range(0, tasks.bySecond().size())
                        .mapToObj(
                                second ->
                                        percent(
                                                tasks.ofFirstTaskBySecond().get(second),
                                                tasks.bySecond().get(second)))
                        .toList();
        ShareShift shift =
                new ShareShift(
                        bySecond,
                        (int) Math.ceil(plan.run().warmUpS()),
                        (int) plan.run().countedUntilS());
        boolean isSlow = plan.setting().hasSlowTask();
        return new StormTrial.Shares(
                tenthsOrNull(tasks.moved()),
                percent(first.get(0), counted),
                isSlow ? shift.shiftS() : null,
                isSlow ? shift.backS() : null,
                tasks.executed().stream().map(this::perS).toList(),
                bySecond,
                isSlow ? plan.run().warmUpS() : null,
                isSlow ? plan.run().countedUntilS() : null);
    }

    private List<Double> perS(List<Long> counted) {
        return counted.stream().map(tuples -> tuples / plan.run().countedS()).toList();
    }

    private static StormTrial.Repeats repeats(StragglerReport.Repeats of) {
        return new StormTrial.Repeats(
                of.sent(),
                of.won(),
                of.extraWork() * PERCENT,
                tenthsOrNull(of.budgetClosed()),
                tenthsOrNull(of.queues()),
                tenthsOrNull(of.processors()));
    }

    private static double percent(long part, long all) {
        return all == 0 ? 0 : tenths((double) part / all);
    }

    /** Of a share, in percent, or null if there is none. */
    private static @Nullable Double tenthsOrNull(@Nullable Double share) {
        return share == null ? null : tenths(share.doubleValue());
    }

    /** In percent; more digits are noise. */
    private static double tenths(double share) {
        return Math.rint(share * PERCENT * 10) / 10;
    }
}
