package io.afterbay.experiments.storm;

import io.afterbay.bench.Numbers;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.experiments.TrialKind;
import io.afterbay.experiments.TrialWorker;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The experiment about slow tasks and long queues on Storm.
 *
 * @param rounds see {@link TrialKind#rounds}
 */
record StormKind(List<List<StormPlan>> rounds) implements TrialKind<StormPlan, StormTrial> {
    /** What a shared queue moves at least. */
    private static final double MOVED_PERCENT_MIN = 1;

    /** A slow task that has more than this part of an even share has not been relieved. */
    private static final double RELIEVED_MAX = 0.5;

    /** A task with less than this part of an even share has been relieved. */
    private static final double EVEN_MIN = 0.8;

    /** The share of the tuples that are replayed, and how many more of each source's task. */
    private static final double REPLAYS_PERCENT_MAX = 2;

    private static final int REPLAYS_AT_ONCE = 10;

    /** Tuples that are sent twice are chosen at random. */
    private static final double BLIND_PERCENT_OFF_MAX = 5;

    @Override
    public String experiment() {
        return "storm";
    }

    @Override
    public Class<? extends TrialWorker<StormPlan, StormTrial>> worker(StormPlan plan) {
        return StormWorker.class;
    }

    @Override
    public Class<StormTrial> type() {
        return StormTrial.class;
    }

    @Override
    public StormTrial failed(StormPlan plan, String reason) {
        return plan.trial().failed(reason);
    }

    @Override
    public StormTrial failed(StormTrial run, String reason) {
        return run.failed(reason);
    }

    @Override
    public boolean isOf(StormPlan plan, StormTrial run) {
        return run.setting().equals(plan.setting());
    }

    @Override
    public String describe(StormTrial run) {
        StormTrial.Latency latency = run.latency();
        return "P50 %s, P99 %s, P99.9 %s ms; mean wait %s ms; first task %s %%, moved %s %%, extra work %s %%; each acked once: %s"
                .formatted(
                        Numbers.format(latency.p50Ms()),
                        Numbers.format(latency.p99Ms()),
                        Numbers.format(latency.p999Ms()),
                        Numbers.format(run.waits().meanWaitMs()),
                        Numbers.format(run.shares().firstTaskPercent()),
                        Numbers.format(run.shares().movedPercent()),
                        Numbers.format(run.repeats().extraWorkPercent()),
                        run.outcome().isRight() ? "yes" : "no");
    }

    @Override
    public List<String> problems(StormTrial run) {
        List<String> problems = new ArrayList<>();
        StormTrial.Outcome outcome = run.outcome();
        if (!outcome.isRight()) {
            problems.add(
                    "of %s tuples %s were acked, %s acks came again, %s failed"
                            .formatted(
                                    outcome.tuples(),
                                    outcome.acked(),
                                    outcome.ackedTwice(),
                                    outcome.failed()));
        }
        StormVariant variant = StormVariant.named(run.setting().variant());
        double moved = orZero(run.shares().movedPercent());
        if (variant == StormVariant.SHARED
                && moved < MOVED_PERCENT_MIN
                && haveTasksThatShare(run.setting())) {
            problems.add(
                    "the queue is shared, and other tasks did %.1f %% of the tuples: is it off?"
                            .formatted(moved));
        } else if (variant != StormVariant.SHARED && moved > 0) {
            problems.add("nothing is shared, and tuples moved to other tasks");
        }
        ofSentTwice(variant, run).ifPresent(problems::add);
        if (run.setting().hasSlowTask()) {
            ofSlowTask(variant, run).ifPresent(problems::add);
        }
        return problems;
    }

    /** Whether a worker has two tasks of a bolt; else there is nobody to share with. */
    private static boolean haveTasksThatShare(StormTrial.Setting setting) {
        return setting.tasks() > StormCell.named(setting.cell()).shape().workers();
    }

    private static Optional<String> ofSentTwice(StormVariant variant, StormTrial run) {
        StormTrial.Repeats repeats = run.repeats();
        long sentTwice = repeats.sentTwice() == null ? 0 : repeats.sentTwice();
        double extra = orZero(repeats.extraWorkPercent());
        if (variant.replays()) {
            return ofReplays(variant, run, sentTwice, extra);
        }
        if (Math.abs(extra - variant.blindPercent()) > BLIND_PERCENT_OFF_MAX) {
            return Optional.of(
                    said(
                            "%.0f %% of the tuples should be sent twice, and extra work is %.1f %%: is it off?",
                            variant.blindPercent(), extra));
        }
        return variant.blindPercent() == 0 && (sentTwice > 0 || extra != 0)
                ? Optional.of(said("nothing is to be sent twice, and extra work is %.1f %%", extra))
                : Optional.empty();
    }

    private static Optional<String> ofReplays(
            StormVariant variant, StormTrial run, long sentTwice, double extra) {
        if (sentTwice == 0 && couldReplay(variant, run)) {
            return Optional.of("late tuples are to be sent twice, and none was: is it off?");
        }
        long tuples = run.outcome().tuples() == null ? 0 : run.outcome().tuples();
        int sources = StormCell.named(run.setting().cell()).shape().sources();
        double max = REPLAYS_PERCENT_MAX + 100.0 * REPLAYS_AT_ONCE * sources / Math.max(1, tuples);
        return extra > max
                ? Optional.of(
                        said(
                                "replays are %.2f %% extra work, and the budget is %.2f %%",
                                extra, max))
                : Optional.empty();
    }

    /** Whether there was a time with room for replays, or should have been. */
    private static boolean couldReplay(StormVariant variant, StormTrial run) {
        Double closed = run.repeats().budgetClosedPercent();
        return variant == StormVariant.REPLAY_ALWAYS || closed == null || closed == 0;
    }

    private static Optional<String> ofSlowTask(StormVariant variant, StormTrial run) {
        double part = orZero(run.shares().firstTaskPercent()) * run.setting().tasks() / 100;
        if (variant == StormVariant.BALANCED && part > RELIEVED_MAX) {
            return Optional.of(
                    said("the slow task has %.2f of an even share, balanced: is it off?", part));
        }
        return isEven(variant, run) && part < EVEN_MIN
                ? Optional.of(
                        said("the slow task has only %.2f of an even share, unbalanced", part))
                : Optional.empty();
    }

    /** The controls. A queue that only grows is one that a load-aware shuffle sees. */
    private static boolean isEven(StormVariant variant, StormTrial run) {
        return variant == StormVariant.SHUFFLE
                || variant == StormVariant.LOAD_AWARE
                        && StormCell.named(run.setting().cell()) == StormCell.SLOW;
    }

    private static String said(String format, Object... figures) {
        return String.format(Locale.ROOT, format, figures);
    }

    private static double orZero(@Nullable Double value) {
        return value == null ? 0 : value;
    }

    @Override
    public String report(List<RecordedTrial<StormTrial>> trials) {
        return new StormPage(trials).details();
    }
}
