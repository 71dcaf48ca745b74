package io.afterbay.experiments.replay;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import io.afterbay.workloads.profiles.TrafficReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The experiment about replays.
 *
 * @param rounds see {@link TrialKind#rounds}
 */
record ReplayKind(List<List<ReplayBenchPlan>> rounds)
        implements TrialKind<ReplayBenchPlan, ReplayTrial> {
    private static final double PERCENT = 100;

    /** A rate is kept if what was counted differs by so much at most. */
    private static final double TOLERANCE = 0.1;

    @Override
    public String experiment() {
        return "replay";
    }

    @Override
    public Class<ReplayTrial> type() {
        return ReplayTrial.class;
    }

    @Override
    public Class<? extends TrialWorker<ReplayBenchPlan, ReplayTrial>> worker(ReplayBenchPlan plan) {
        return ReplayBenchWorker.class;
    }

    @Override
    public ReplayBenchPlan ready(ReplayBenchPlan plan, List<ReplayTrial> before)
            throws CommandFailure {
        if (plan.isSearch() || plan.livePercent() == 0) {
            return plan;
        }
        double most =
                before.stream()
                        .map(ReplayTrial::maxPerS)
                        .filter(Objects::nonNull)
                        .reduce((first, second) -> second)
                        .orElseThrow(
                                () ->
                                        new CommandFailure(
                                                "the highest rate is not known: its run failed; or give a rate by --live-rate"));
        return plan.atRate(most * plan.livePercent() / PERCENT);
    }

    @Override
    public ReplayTrial failed(ReplayBenchPlan plan, String reason) {
        return ReplayTrial.none(plan, reason);
    }

    @Override
    public ReplayTrial failed(ReplayTrial run, String reason) {
        return run.failed(reason);
    }

    @Override
    public boolean isOf(ReplayBenchPlan plan, ReplayTrial run) {
        return run.variant().equals(plan.variant())
                && run.livePercent() == plan.livePercent()
                && Objects.equals(run.replayRatePerS(), plan.replayRatePerS())
                && run.pair() == plan.pair();
    }

    @Override
    public String describe(ReplayTrial run) {
        if (run.isSearch()) {
            return String.format(Locale.ROOT, "%,.0f profiles/s", run.maxPerS());
        }
        return String.format(
                Locale.ROOT,
                "P99 %s, %s, %s ms before, during, after; %s replayed/s; %,d conflicts, %,d wrong rows",
                p99(run.before()),
                p99(run.during()),
                p99(run.after()),
                run.replayedPerS() == null
                        ? "no"
                        : String.format(Locale.ROOT, "%,.0f", run.replayedPerS()),
                run.conflicts() == null ? 0 : run.conflicts(),
                run.wrong());
    }

    private static String p99(TrafficReport.@Nullable Phase phase) {
        return phase == null || phase.p99Ms() == null
                ? "–"
                : String.format(Locale.ROOT, "%.1f", phase.p99Ms());
    }

    @Override
    public List<String> problems(ReplayTrial run) {
        List<String> problems = new ArrayList<>();
        if (run.isSearch()) {
            return problems;
        }
        ReplayVariant variant = ReplayVariant.named(run.variant());
        int wrong = Objects.requireNonNull(run.wrong());
        Double liveRate = run.liveRatePerS();
        TrafficReport.Phase during = run.during();
        if (liveRate != null && during != null && !isNear(during.sentPerS(), liveRate)) {
            problems.add(
                    String.format(
                            Locale.ROOT,
                            "%.0f profiles a second were sent, and not %.0f",
                            during.sentPerS(),
                            liveRate));
        }
        if (variant.isMerged()) {
            if (wrong > 0) {
                problems.add("%,d rows of the table are wrong".formatted(wrong));
            }
            if (run.conflicts() == null || run.conflicts() == 0) {
                problems.add("there was no conflict: nothing shows that they are resolved");
            }
        }
        if (variant == ReplayVariant.UNMERGED && wrong == 0) {
            problems.add("the control's table is right: nothing had to be merged");
        }
        Double asked = run.replayRatePerS();
        Double replayed = run.replayedPerS();
        if (asked != null && (replayed == null || !isNear(replayed, asked))) {
            problems.add(
                    String.format(
                            Locale.ROOT,
                            "%.0f records a second were replayed, and not %.0f",
                            replayed,
                            asked));
        }
        return problems;
    }

    /** Whether a rate was kept, as far as it counts. */
    static boolean isNear(double counted, double asked) {
        return Math.abs(counted / asked - 1) <= TOLERANCE;
    }

    @Override
    public String report(List<RecordedTrial<ReplayTrial>> trials) {
        return new ReplayPage(trials).details();
    }
}
