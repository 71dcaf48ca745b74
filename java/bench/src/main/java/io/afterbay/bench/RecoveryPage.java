package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/** The table about recovery, in Markdown, with what is aimed at and whether it is met. */
public final class RecoveryPage {
    private static final String OURS = "afterbay";
    private static final String RIVAL = "rocksdb-heap-timers";
    private static final double AIM_GROWTH = 1.2;
    private static final double AIM_RATIO = 0.1;

    /** Runs of one kind; compared with others of the same size. */
    private record Kind(long stateMib, boolean localRecovery, String backend) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparingLong(Kind::stateMib)
                        .thenComparing(Kind::localRecovery)
                        .thenComparing(Kind::backend);

        private static Kind of(RecoveryTrial trial) {
            return new Kind(trial.stateMib(), trial.localRecovery(), trial.backend());
        }
    }

    private final TrialHistory<RecoveryTrial> history;
    private final Map<Kind, List<RecoveryTrial>> trials = new TreeMap<>(Kind.ORDER);

    public RecoveryPage(List<RecordedTrial<RecoveryTrial>> recorded) {
        history = new TrialHistory<>(recorded);
        history.newest(Kind::of)
                .forEach(
                        (kind, all) ->
                                trials.put(kind, all.stream().filter(Trial::finished).toList()));
    }

    /** Aims and table; below them where the figures come from. */
    public String details() {
        if (history.isEmpty()) {
            return ResultsPage.NONE;
        }
        return Stream.of(aims(), table(), history.circumstances(Kind::of)).collect(joining("\n"));
    }

    private String aims() {
        return TrialHistory.aim(
                        "with local recovery, the time to the first event stays the same (±20 %)"
                                + " as the state grows",
                        ours().flatMap(kind -> growth(kind).stream())
                                .map(growth -> growth <= AIM_GROWTH)
                                .toList())
                + TrialHistory.aim(
                        "with local recovery, it is at most a tenth of what "
                                + RIVAL
                                + " takes without",
                        ours().map(this::ratios)
                                .filter(ratios -> ratios.length > 0)
                                .map(ratios -> Ratio.of(ratios).median() <= AIM_RATIO)
                                .toList());
    }

    private Stream<Kind> ours() {
        return trials.keySet().stream()
                .filter(kind -> kind.backend.equals(OURS) && kind.localRecovery);
    }

    /** Time to the first event relative to that of the rival without local recovery. */
    private double[] ratios(Kind kind) {
        List<RecoveryTrial> rival =
                trials.getOrDefault(new Kind(kind.stateMib, false, RIVAL), List.of());
        return trials.getOrDefault(kind, List.of()).stream()
                .flatMapToDouble(trial -> ratio(trial, rival))
                .toArray();
    }

    private static DoubleStream ratio(RecoveryTrial trial, List<RecoveryTrial> rival) {
        Double dividend = trial.firstEventMs();
        return rival.stream()
                .filter(other -> other.pair() == trial.pair())
                .map(RecoveryTrial::firstEventMs)
                .filter(divisor -> dividend != null && divisor != null)
                .mapToDouble(divisor -> Objects.requireNonNull(dividend) / divisor);
    }

    /** Time to the first event relative to that with the smallest state, unless it is that. */
    private List<Double> growth(Kind kind) {
        double[] here = firstEventMs(kind);
        return trials.keySet().stream()
                .filter(other -> other.backend.equals(kind.backend))
                .filter(other -> other.localRecovery == kind.localRecovery)
                .filter(other -> other.stateMib < kind.stateMib)
                .map(this::firstEventMs)
                .filter(least -> least.length > 0 && here.length > 0)
                .limit(1)
                .map(least -> Ratio.median(here) / Ratio.median(least))
                .toList();
    }

    private double[] firstEventMs(Kind kind) {
        return trials.getOrDefault(kind, List.of()).stream()
                .flatMap(trial -> Stream.ofNullable(trial.firstEventMs()))
                .mapToDouble(Double::doubleValue)
                .toArray();
    }

    private String table() {
        MarkdownTable table =
                new MarkdownTable(
                        List.of(
                                "state",
                                "recovery",
                                "backend",
                                "restored, ms",
                                "first event, ms",
                                "to the smallest state",
                                "to " + RIVAL + ", remote",
                                "caught up, ms",
                                "checkpoint, MB",
                                "read, MB",
                                "pairs",
                                "counts"));
        trials.forEach((kind, all) -> table.row(row(kind, all)));
        return "Since the tasks were deployed again (updates%s), median of the runs [lowest..highest]:\n\n"
                        .formatted(rates())
                + table;
    }

    private String rates() {
        return TrialHistory.rates(
                trials.values().stream().flatMap(List::stream).map(RecoveryTrial::ratePerS));
    }

    private String ratio(Kind kind) {
        double[] ratios = ratios(kind);
        return ratios.length == 0 ? ResultsPage.MISSING : ResultsPage.text(Ratio.of(ratios));
    }

    private List<String> row(Kind kind, List<RecoveryTrial> all) {
        return List.of(
                Numbers.mebibytes(kind.stateMib),
                kind.localRecovery ? "local" : "remote",
                "`" + kind.backend + "`",
                TrialHistory.range(all.stream().map(RecoveryTrial::restoredMs)),
                TrialHistory.range(all.stream().map(RecoveryTrial::firstEventMs)),
                growth(kind).stream()
                        .map(growth -> Numbers.format(growth) + "x")
                        .findFirst()
                        .orElse(ResultsPage.MISSING),
                ratio(kind),
                TrialHistory.range(all.stream().map(RecoveryTrial::caughtUpMs)),
                TrialHistory.range(all.stream().map(RecoveryTrial::checkpointMb)),
                TrialHistory.range(all.stream().map(RecoveryTrial::readMb)),
                Integer.toString(all.size()),
                TrialHistory.counts(all.stream().map(RecoveryTrial::outputsRight)));
    }
}
