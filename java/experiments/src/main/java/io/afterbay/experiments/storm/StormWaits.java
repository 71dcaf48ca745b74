package io.afterbay.experiments.storm;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialPage;
import io.afterbay.experiments.storm.StormPage.Kind;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How long tuples wait in queues on average, in Markdown, beside what queueing theory says (Du
 * &amp; Gupta 2016, sections 3.2 and 5.1.2, figures 3 and 4).
 */
final class StormWaits extends TrialPage<Kind, StormTrial> {
    static final MeasuredValue<StormTrial> WAIT = run -> run.waits().meanWaitMs();

    static final String NOT_RECORDED = "not recorded";

    private static final double PERCENT = 100;

    StormWaits(List<RecordedTrial<StormTrial>> recorded) {
        super(recorded, Kind::of, Kind.COMPARATOR);
    }

    /** A figure of the model of a run. */
    private interface OfModel {
        @Nullable Double of(StormQueueModel model);
    }

    private static MeasuredValue<StormTrial> model(OfModel figure) {
        return run -> {
            StormQueueModel model = StormQueueModel.of(run);
            return model == null ? null : figure.of(model);
        };
    }

    /** With its caption; nothing without a row. */
    String text() {
        List<Kind> rows = kinds().filter(kind -> isOfQueues(kind) || !notRecorded(kind)).toList();
        return rows.isEmpty()
                ? ""
                : "Queueing time: the mean time from when a counted tuple was sent until a task began it, of"
                        + " all bolts; in `queue` beside what theory says for the same rate and mean"
                        + " service time, with one queue for all tasks (Erlang C) and with a queue for"
                        + " each task to which tuples go at random (M/M/1). Before it was sent, a tuple"
                        + " was held from when it was due:\n\n"
                        + table(rows);
    }

    private static boolean isOfQueues(Kind kind) {
        return kind.place().cell().equals(StormCell.QUEUE.label());
    }

    private boolean notRecorded(Kind kind) {
        return notRecorded(of(kind));
    }

    /** Whether none of the runs says how long tuples waited. */
    static boolean notRecorded(List<StormTrial> runs) {
        return runs.stream().map(WAIT::of).allMatch(Objects::isNull);
    }

    private String table(List<Kind> rows) {
        List<String> header =
                List.of(
                        "setting",
                        "variant",
                        "mean wait, ms",
                        "Erlang C, one queue, ms",
                        "M/M/1, a queue each, ms",
                        "mean wait to round robin",
                        "mean service, ms",
                        "load with it, %",
                        "mean time held before, ms");
        return table(rows.stream(), header, this::row);
    }

    private List<String> row(Kind kind) {
        return List.of(
                kind.place().text(),
                kind.variant(),
                notRecorded(kind) ? NOT_RECORDED : range(kind, WAIT),
                range(kind, model(StormQueueModel::oneQueueMs)),
                range(kind, model(StormQueueModel::queueEachMs)),
                toRoundRobin(kind),
                range(kind, run -> run.waits().meanServiceMs()),
                range(kind, model(model -> PERCENT * model.load())),
                range(kind, run -> run.waits().meanHeldMs()));
    }

    private String toRoundRobin(Kind kind) {
        String roundRobin = StormVariant.SHUFFLE.label();
        return kind.variant().equals(roundRobin)
                ? ResultsPage.MISSING
                : ratio(ratios(kind, new Kind(kind.place(), roundRobin), WAIT));
    }

    /** Those of the experiment are {@link StormPage}'s. */
    @Override
    public List<Aim> aims() {
        return List.of();
    }

    @Override
    protected Stream<String> tables() {
        return Stream.of(text());
    }
}
