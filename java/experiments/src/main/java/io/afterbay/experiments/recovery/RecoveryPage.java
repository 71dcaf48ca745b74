package io.afterbay.experiments.recovery;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.Numbers;
import io.afterbay.bench.Ratio;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialHistory;
import io.afterbay.bench.TrialPage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The table about recovery, in Markdown, with what is aimed at and whether it is met. */
public final class RecoveryPage extends TrialPage<RecoveryPage.Kind, RecoveryTrial> {
    private static final String COMMAND =
            "./afterbay bench recovery --sizes 1g,20g --killed 6%,50%,100% --memory 8g";
    private static final int ALL = 100;
    private static final double AIM_SAME_MIN = 0.8;
    private static final double AIM_SAME_MAX = 1.2;
    private static final double AIM_RATIO = 0.1;

    /** Runs of one kind; compared with others of the same size. */
    record Kind(long stateMib, int killedPercent, boolean localRecovery, String backend) {
        private static final Comparator<Kind> ORDER =
                Comparator.comparingLong(Kind::stateMib)
                        .thenComparing(Kind::killedPercent)
                        .thenComparing(Kind::localRecovery)
                        .thenComparing(Kind::backend);

        private static Kind of(RecoveryTrial trial) {
            return new Kind(
                    trial.stateMib(),
                    trial.killedPercent(),
                    trial.localRecovery(),
                    trial.backend());
        }

        private Kind rival() {
            return new Kind(stateMib, killedPercent, false, RIVAL);
        }

        private boolean isLikeButSmaller(Kind other) {
            return new Kind(other.stateMib, killedPercent, localRecovery, backend).equals(other)
                    && other.stateMib < stateMib;
        }

        private boolean isLikeButFewerKilled(Kind other) {
            return new Kind(stateMib, other.killedPercent, localRecovery, backend).equals(other)
                    && other.killedPercent < killedPercent;
        }

        private String killed() {
            return killedPercent + " %";
        }

        private String setting() {
            return Numbers.mebibytes(stateMib)
                    + (killedPercent == ALL ? "" : ", " + killed() + " killed");
        }
    }

    public RecoveryPage(List<RecordedTrial<RecoveryTrial>> recorded) {
        super(recorded, Kind::of, Kind.ORDER);
    }

    public static List<RecordedTrial<RecoveryTrial>> read(Path directory) throws IOException {
        return read(directory, "recovery", RecoveryTrial.class);
    }

    @Override
    public List<Aim> aims() {
        return List.of(
                aim(
                                "time to the first event after a recovery on the same host, to that with"
                                        + " the smallest state of 1 GiB or more",
                                "with local recovery, the time to the first event stays the same (0.8x to"
                                        + " 1.2x) as the state grows from 1 GiB on",
                                AIM_SAME_MAX,
                                this::growthOfLarge)
                        .andAtLeast(AIM_SAME_MIN),
                aim(
                                "time to the first event after a recovery on the same host, to that with"
                                        + " the smallest share of the tasks killed",
                                "with local recovery, it is the same (0.8x to 1.2x) whichever share of the"
                                        + " tasks is killed",
                                AIM_SAME_MAX,
                                this::growthByKilled)
                        .andAtLeast(AIM_SAME_MIN),
                aim(
                        "time to the first event after a recovery on the same host, to that of "
                                + RIVAL
                                + " without local recovery",
                        "with local recovery, it is at most a tenth of what "
                                + RIVAL
                                + " takes without",
                        AIM_RATIO,
                        this::toRival));
    }

    private Aim aim(String measure, String goal, double bound, MeasuredValue<Kind> value) {
        List<Aim.Value> values =
                kinds().filter(kind -> kind.backend.equals(OURS) && kind.localRecovery)
                        .flatMap(
                                kind ->
                                        Stream.ofNullable(value.of(kind))
                                                .map(
                                                        one ->
                                                                value(
                                                                        kind,
                                                                        kind.setting(),
                                                                        one,
                                                                        of(kind).size())))
                        .toList();
        return new Aim(measure, goal, false, bound, "x", values, command());
    }

    /** As it was typed, of which the sizes are; if it never was, with those that are aimed at. */
    private String command() {
        String typed = commands(kinds().filter(kind -> kind.backend.equals(OURS)));
        return typed.isEmpty() ? COMMAND : typed;
    }

    /** Time to the first event relative to that with the smallest state, unless it is that. */
    private @Nullable Double growth(Kind kind) {
        return growth(kind, kind::isLikeButSmaller);
    }

    /** The same without small states, of which the log is a larger part. */
    private @Nullable Double growthOfLarge(Kind kind) {
        return growth(kind, other -> other.stateMib >= 1024 && kind.isLikeButSmaller(other));
    }

    /** The same relative to the smallest share of tasks that were killed. */
    private @Nullable Double growthByKilled(Kind kind) {
        return growth(kind, kind::isLikeButFewerKilled);
    }

    private @Nullable Double growth(Kind kind, Predicate<Kind> others) {
        return kinds().filter(others)
                .map(other -> ofSameRevision(kind, other))
                .map(runs -> values(runs, RecoveryTrial::firstEventMs))
                .filter(least -> least.length > 0)
                .findFirst()
                .map(least -> growth(firstEventMs(kind), least))
                .orElse(null);
    }

    private double[] firstEventMs(Kind kind) {
        return values(kind, RecoveryTrial::firstEventMs);
    }

    private @Nullable Double toRival(Kind kind) {
        double[] ratios = ratios(kind);
        return ratios.length == 0 ? null : Ratio.of(ratios).median();
    }

    /** Time to the first event relative to that of the rival without local recovery. */
    private double[] ratios(Kind kind) {
        return ratios(kind, kind.rival(), RecoveryTrial::firstEventMs);
    }

    @Override
    protected Stream<String> tables() {
        List<String> header =
                List.of(
                        "state",
                        "killed",
                        "of a task",
                        "recovery",
                        "backend",
                        "restored, ms",
                        "first event, ms",
                        "to the smallest state",
                        "to " + RIVAL + ", remote",
                        "caught up, ms",
                        "checkpoint, MB",
                        "read, MB",
                        "counts");
        return Stream.of(
                "Since the tasks were deployed again (updates%s), median of the runs [lowest..highest]:\n\n"
                                .formatted(TrialHistory.rates(all().map(RecoveryTrial::ratePerS)))
                        + table(kinds(), header, this::row));
    }

    private List<String> row(Kind kind) {
        return List.of(
                Numbers.mebibytes(kind.stateMib),
                kind.killed(),
                stateOfTask(kind),
                kind.localRecovery ? "local" : "remote",
                "`" + kind.backend + "`",
                range(kind, RecoveryTrial::restoredMs),
                range(kind, RecoveryTrial::firstEventMs),
                times(growth(kind)),
                ratio(ratios(kind)),
                range(kind, RecoveryTrial::caughtUpMs),
                range(kind, RecoveryTrial::checkpointMb),
                range(kind, RecoveryTrial::readMb),
                TrialHistory.counts(of(kind).stream().map(RecoveryTrial::outputsRight)));
    }

    private String stateOfTask(Kind kind) {
        return of(kind).stream()
                .filter(run -> run.instances() > 0)
                .map(run -> Numbers.mebibytes(run.stateMib() / run.instances()))
                .findFirst()
                .orElse(ResultsPage.MISSING);
    }
}
