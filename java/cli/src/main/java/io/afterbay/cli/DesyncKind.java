package io.afterbay.cli;

import io.afterbay.bench.DesyncPage;
import io.afterbay.bench.DesyncTrial;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.cli.doctor.analysis.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The experiment about instances of RocksDB that flush and compact together.
 *
 * @param rounds see {@link TrialKind#rounds}
 */
record DesyncKind(List<List<DesyncPlan>> rounds) implements TrialKind<DesyncPlan, DesyncTrial> {

    @Override
    public String experiment() {
        return "desync";
    }

    @Override
    public Class<DesyncTrial> type() {
        return DesyncTrial.class;
    }

    /** A share of the maximum rate needs the run that gave that. */
    @Override
    public DesyncPlan ready(DesyncPlan plan, List<DesyncTrial> before) throws CommandFailure {
        if (!plan.isOpenLoop()) {
            return plan;
        }
        DesyncTrial.Setting wanted = maximum(plan.setting());
        double eventsPerS =
                before.stream()
                        .filter(run -> run.setting().equals(wanted))
                        .map(run -> run.outcome().eventsPerS())
                        .filter(Objects::nonNull)
                        .reduce((first, second) -> second)
                        .orElseThrow(
                                () ->
                                        new CommandFailure(
                                                "the run that gives the maximum rate has failed"));
        return plan.at(eventsPerS * plan.setting().loadPercent() / 100);
    }

    /** The setting whose run gives the maximum rate for this one. */
    static DesyncTrial.Setting maximum(DesyncTrial.Setting of) {
        return new DesyncTrial.Setting(
                of.backend(),
                DesyncCure.DEFAULT.label(),
                of.subtasks(),
                of.intervalMs(),
                of.payloadBytes(),
                of.threads(),
                0,
                1);
    }

    @Override
    public DesyncTrial failed(DesyncPlan plan, String reason) {
        return plan.trial().failed(reason);
    }

    @Override
    public DesyncTrial failed(DesyncTrial run, String reason) {
        return run.failed(reason);
    }

    @Override
    public boolean isOf(DesyncPlan plan, DesyncTrial run) {
        return run.setting().equals(plan.setting());
    }

    @Override
    public String describe(DesyncTrial run) {
        Double eventsPerS = run.outcome().eventsPerS();
        if (eventsPerS != null) {
            return String.format(Locale.ROOT, "%,.0f events/s", eventsPerS);
        }
        return "at %s events/s P50 %s, P99.9 %s ms; %d compactions, of %d of %d instances after one checkpoint; %s"
                .formatted(
                        figure(run.latency().ratePerS()),
                        figure(run.latency().p50Ms()),
                        figure(run.latency().p999Ms()),
                        run.overlap().compactions(),
                        run.overlap().mostPerRound(),
                        run.overlap().instances(),
                        run.overlap().verdict());
    }

    private static String figure(@Nullable Double value) {
        return value == null ? "-" : String.format(Locale.ROOT, "%,.0f", value);
    }

    @Override
    public List<String> problems(DesyncTrial run) {
        List<String> problems = new ArrayList<>();
        if (run.setting().loadPercent() == 0) {
            return problems;
        }
        if (run.latency().p50Ms() == null) {
            problems.add("no row came while latencies were counted; use a longer --open");
        }
        if (Verdict.TOO_LITTLE_DATA.name().equals(run.overlap().verdict())) {
            problems.add(
                    "too few compactions to say whether they are aligned; use a longer --open");
        }
        return problems;
    }

    /** Runs of a round have the same events, and a cure must do what it is for. */
    @Override
    public List<String> problems(List<DesyncTrial> round) {
        List<String> problems = new ArrayList<>();
        List<String> rows =
                round.stream()
                        .map(run -> run.outcome().rows())
                        .filter(Objects::nonNull)
                        .distinct()
                        .toList();
        if (rows.size() > 1) {
            problems.add("runs of a round gave different rows: " + String.join(" and ", rows));
        }
        if (round.stream().anyMatch(run -> isAligned(run, DesyncCure.DEFAULT))) {
            round.stream()
                    .filter(DesyncKind::isNotCured)
                    .map(DesyncKind::notCured)
                    .forEach(problems::add);
        }
        return problems;
    }

    private static boolean isNotCured(DesyncTrial run) {
        DesyncCure cure = DesyncCure.named(run.setting().cure());
        return cure.spreads() && isAligned(run, cure);
    }

    private static boolean isAligned(DesyncTrial run, DesyncCure cure) {
        return run.setting().cure().equals(cure.label())
                && Verdict.ALIGNED.name().equals(run.overlap().verdict());
    }

    private static String notCured(DesyncTrial run) {
        return "%s: instances compact together as without: %d of %d after one checkpoint"
                .formatted(
                        run.setting().cure(),
                        run.overlap().mostPerRound(),
                        run.overlap().instances());
    }

    @Override
    public String report(List<RecordedTrial<DesyncTrial>> trials) {
        return new DesyncPage(trials).details();
    }
}
