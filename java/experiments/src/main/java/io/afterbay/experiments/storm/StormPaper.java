package io.afterbay.experiments.storm;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialPage;
import io.afterbay.experiments.storm.StormPage.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * What Du &amp; Gupta (2016, section 5) report, beside what is measured here in the same settings,
 * in Markdown. All figures are ratios to Storm without the technique: round robin, or where that
 * was not run the load-aware shuffle, which Storm has had since.
 */
public final class StormPaper extends TrialPage<Kind, StormTrial> {
    private static final String NONE = ResultsPage.MISSING;

    /** Which column says that there is none. */
    private static final int P99_HERE = 7;

    /** Of what a technique does to the latency, as the paper has it. */
    private record Reported(
            String where,
            String p90,
            String p99,
            String p999,
            String meanWait,
            String extraWorkPercent) {

        /** Without a queueing time. */
        Reported(String where, String p90, String p99, String p999, String extraWorkPercent) {
            this(where, p90, p99, p999, NONE, extraWorkPercent);
        }
    }

    private static final Map<Kind, Reported> REPORTED = reported();

    public StormPaper(List<RecordedTrial<StormTrial>> recorded) {
        super(recorded, Kind::of, Kind.COMPARATOR);
    }

    private static Map<Kind, Reported> reported() {
        Map<Kind, Reported> all = new LinkedHashMap<>();
        StormCell pauses = StormCell.REPLICATION;
        all.put(
                kind(pauses, StormVariant.REPLAY),
                new Reported("table 2", NONE, "0.83", "0.87", "2.92"));
        all.put(
                kind(pauses, StormVariant.BLIND_20),
                new Reported("table 2", NONE, "0.87", "1.15", "20"));
        all.put(
                kind(pauses, StormVariant.BLIND_50),
                new Reported("table 2", NONE, "0.76", "1.41", "50"));
        all.put(
                kind(pauses, StormVariant.BLIND_100),
                new Reported("table 2", NONE, "0.61", "1.02", "100"));
        all.put(
                new Kind(StormPlace.usual(StormCell.QUEUE, 4, 78, 0), StormVariant.SHARED.label()),
                new Reported("section 5.1.2", "0.65", "0.75", "0.64", "0.25", NONE));
        all.put(
                kind(StormCell.UNEVEN, StormVariant.BALANCED),
                new Reported("table 3, a", "0.98", "0.79", "0.55", NONE));
        Reported beside = new Reported("table 3, b", "0.44", "0.39", "0.75", NONE);
        all.put(kind(StormCell.BESIDE, StormVariant.BALANCED), beside);
        all.put(kind(StormCell.BESIDE_CGROUP, StormVariant.BALANCED), beside);
        Reported mixed = new Reported("table 3, c", "0.82", "0.49", "0.27", NONE);
        all.put(kind(StormCell.MIXED, StormVariant.BALANCED), mixed);
        all.put(kind(StormCell.MIXED_CGROUP, StormVariant.BALANCED), mixed);
        Reported replays = new Reported("table 5", NONE, "0.60 to 0.72", "0.74 to 0.76", NONE);
        all.put(kind(StormCell.PAGE_LOAD_LOW, StormVariant.REPLAY), replays);
        all.put(kind(StormCell.PROCESSING_LOW, StormVariant.REPLAY), replays);
        Reported queues =
                new Reported("table 5", "0.81 to 0.84", "0.58 to 0.64", "0.68 to 0.80", NONE);
        all.put(kind(StormCell.PAGE_LOAD_HIGH, StormVariant.SHARED), queues);
        all.put(kind(StormCell.PROCESSING_HIGH, StormVariant.SHARED), queues);
        Reported balance =
                new Reported("table 5", "0.52 to 0.78", "0.43 to 0.50", "0.50 to 0.79", NONE);
        all.put(kind(StormCell.PAGE_LOAD_MIXED, StormVariant.BALANCED), balance);
        all.put(kind(StormCell.PROCESSING_MIXED, StormVariant.BALANCED), balance);
        return all;
    }

    /** In the setting that the cell has without options. */
    private static Kind kind(StormCell cell, StormVariant variant) {
        int tasks = cell.shape().tasks().get(0);
        int percent = cell.load().utilisations().get(0);
        return new Kind(StormPlace.usual(cell, tasks, percent, 0), variant.label());
    }

    /** A row for each figure of the paper; those that are not measured here have no ratio. */
    public String table() {
        List<String> header =
                List.of(
                        "in the paper",
                        "setting here",
                        "technique",
                        "to",
                        "P90, paper",
                        "P90, here",
                        "P99, paper",
                        "P99, here",
                        "P99.9, paper",
                        "P99.9, here",
                        "mean wait, paper",
                        "mean wait, here",
                        "extra work, paper, %",
                        "extra work, here, %");
        return table(REPORTED.keySet().stream(), header, this::row);
    }

    private List<String> row(Kind kind) {
        Reported paper = Objects.requireNonNull(REPORTED.get(kind));
        StormVariant usual = baseline(StormCell.named(kind.place().cell()));
        List<String> row = new ArrayList<>();
        row.add(paper.where);
        row.add(kind.place().text());
        row.add(kind.variant());
        row.add(usual.label());
        row.add(paper.p90);
        row.add(toThat(kind, usual, run -> run.latency().p90Ms()));
        row.add(paper.p99);
        row.add(toThat(kind, usual, StormPage.P99));
        row.add(paper.p999);
        row.add(toThat(kind, usual, StormPage.P999));
        row.add(paper.meanWait);
        row.add(paper.meanWait.equals(NONE) ? NONE : wait(kind, usual));
        row.add(paper.extraWorkPercent);
        row.add(
                paper.extraWorkPercent.equals(NONE)
                        ? NONE
                        : range(kind, run -> run.repeats().extraWorkPercent()));
        if (of(kind).isEmpty()) {
            row.set(P99_HERE, "not measured");
        }
        return row;
    }

    private String wait(Kind kind, StormVariant baseline) {
        boolean isUnknown = !of(kind).isEmpty() && StormWaits.notRecorded(of(kind));
        return isUnknown ? StormWaits.NOT_RECORDED : toThat(kind, baseline, StormWaits.WAIT);
    }

    /** The paper's Storm 0.10 had no other grouping of this kind than round robin. */
    private static StormVariant baseline(StormCell cell) {
        return cell.variants().contains(StormVariant.SHUFFLE)
                ? StormVariant.SHUFFLE
                : StormVariant.LOAD_AWARE;
    }

    private String toThat(Kind kind, StormVariant baseline, MeasuredValue<StormTrial> figure) {
        return ratio(ratios(kind, new Kind(kind.place(), baseline.label()), figure));
    }

    /** Those of the experiment are {@link StormPage}'s. */
    @Override
    public List<Aim> aims() {
        return List.of();
    }

    @Override
    protected Stream<String> tables() {
        return Stream.of(table());
    }
}
