package io.afterbay.experiments.desync;

import io.afterbay.bench.RecordedTrial;
import io.afterbay.command.CommandFailure;
import io.afterbay.doctor.analysis.Verdict;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The experiment about instances of RocksDB that flush and compact together.
 *
 * @param rounds see {@link TrialKind#rounds}
 * @param showsTheCure whether a round without the problem is one: it is there to show a cure
 */
record DesyncKind(List<List<DesyncPlan>> rounds, boolean showsTheCure)
        implements TrialKind<DesyncPlan, DesyncTrial> {

    /** With fewer flushes for checkpoints than that, others decide what runs together. */
    private static final double FOR_CHECKPOINTS_MIN = 0.5;

    @Override
    public String experiment() {
        return "desync";
    }

    @Override
    public Class<? extends TrialWorker<DesyncPlan, DesyncTrial>> worker(DesyncPlan plan) {
        return plan.engine().isKafka() ? KafkaDesyncWorker.class : DesyncWorker.class;
    }

    @Override
    public Class<DesyncTrial> type() {
        return DesyncTrial.class;
    }

    /** The rate comes from a run of its own. */
    @Override
    public DesyncPlan ready(DesyncPlan plan, List<DesyncTrial> before) throws CommandFailure {
        if (!plan.isOpenLoop()) {
            return plan;
        }
        DesyncTrial.Setting wanted = plan.setting().ofRate();
        double ratePerS =
                before.stream()
                        .filter(run -> run.setting().equals(wanted))
                        .map(run -> run.latency().ratePerS())
                        .filter(Objects::nonNull)
                        .reduce((first, second) -> second)
                        .orElseThrow(
                                () -> new CommandFailure("the run that seeks the rate has failed"));
        return plan.at(ratePerS);
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
            return String.format(
                    Locale.ROOT,
                    "%,.0f events/s as fast as possible; at %s events/s %s of the processors",
                    eventsPerS,
                    figure(run.latency().ratePerS()),
                    percent(run.latency().busy()));
        }
        String latency =
                "at %s events/s %s of the processors; P50 %s, P95 %s, P99.9 %s ms"
                        .formatted(
                                figure(run.latency().ratePerS()),
                                percent(run.latency().busy()),
                                figure(run.latency().p50Ms()),
                                figure(run.latency().p95Ms()),
                                figure(run.latency().p999Ms()));
        return run.overlap().verdict() == null ? latency : latency + overlap(run);
    }

    private static String overlap(DesyncTrial run) {
        return "; %s of %s flushes for checkpoints; %d compactions, of %d of %d instances after one checkpoint, for up to %s ms; %s"
                .formatted(
                        percent(run.overlap().forCheckpoints()),
                        run.overlap().flushes(),
                        run.overlap().compactions(),
                        run.overlap().mostPerRound(),
                        run.overlap().instances(),
                        figure(run.overlap().longestWaveMs()),
                        verdict(run.overlap()));
    }

    private static String figure(@Nullable Double value) {
        return value == null ? "-" : String.format(Locale.ROOT, "%,.0f", value);
    }

    /** Instances that flush when their memtables are full do so at times of their own. */
    private static String verdict(DesyncTrial.Overlap overlap) {
        Double share = overlap.forCheckpoints();
        String verdict = String.valueOf(overlap.verdict()).toLowerCase(Locale.ROOT);
        return verdict.replace('_', ' ')
                + (share != null && share < FOR_CHECKPOINTS_MIN
                        ? ": memtables fill between checkpoints, there is nothing to spread"
                        : "");
    }

    private static String percent(@Nullable Double share) {
        return share == null ? "-" : String.format(Locale.ROOT, "%.0f %%", 100 * share);
    }

    @Override
    public List<String> problems(DesyncTrial run) {
        List<String> problems = new ArrayList<>();
        if (run.setting().isOfRate()) {
            return problems;
        }
        if (run.latency().p50Ms() == null) {
            problems.add("no row came while latencies were counted; use a longer --open");
        }
        if (flushesAtCheckpoints(run) && isTooShort(run)) {
            problems.add(
                    "too few compactions to say whether they are aligned; use a longer --open");
        }
        return problems;
    }

    /** Kafka Streams 4.3 does not, and then there may be nothing to compact. */
    private static boolean flushesAtCheckpoints(DesyncTrial run) {
        return !run.setting().backend().equals(DesyncEngine.KAFKA_STREAMS_4_3.label());
    }

    private static boolean isTooShort(DesyncTrial run) {
        return Verdict.TOO_LITTLE_DATA.name().equals(run.overlap().verdict());
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
        List<DesyncTrial> uncured =
                round.stream()
                        .filter(run -> run.setting().cure().equals(DesyncCure.DEFAULT.label()))
                        .filter(run -> run.overlap().verdict() != null)
                        .toList();
        if (showsTheCure && round.stream().anyMatch(DesyncKind::spreads)) {
            uncured.stream()
                    .filter(run -> flushesAtCheckpoints(run) && !isTogether(run))
                    .map(DesyncKind::nothingToCure)
                    .forEach(problems::add);
        }
        uncured.stream()
                .filter(DesyncKind::isTogether)
                .flatMap(one -> round.stream().filter(run -> isNotCured(run, one)))
                .map(DesyncKind::notCured)
                .forEach(problems::add);
        return problems;
    }

    /** A verdict alone would not do: on a busy machine it says less, with a cure and without. */
    private static boolean isNotCured(DesyncTrial run, DesyncTrial uncured) {
        return spreads(run)
                && (Verdict.ALIGNED.name().equals(run.overlap().verdict())
                        || most(run) >= most(uncured));
    }

    private static boolean spreads(DesyncTrial run) {
        return !run.setting().isOfRate()
                && run.setting().value() == null
                && run.overlap().verdict() != null
                && DesyncCure.named(run.setting().cure()).spreads();
    }

    private static int most(DesyncTrial run) {
        return Objects.requireNonNullElse(run.overlap().mostPerRound(), 0);
    }

    private static boolean isTogether(DesyncTrial run) {
        String verdict = run.overlap().verdict();
        return Verdict.ALIGNED.name().equals(verdict)
                || Verdict.PARTLY_ALIGNED.name().equals(verdict);
    }

    private static String nothingToCure(DesyncTrial run) {
        return "%s: instances did not compact together, so no cure was shown; on a busy machine, try again"
                .formatted(run.setting().cure());
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
