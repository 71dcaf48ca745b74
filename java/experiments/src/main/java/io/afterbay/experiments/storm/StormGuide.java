package io.afterbay.experiments.storm;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.ResultsPage;
import io.afterbay.bench.TrialPage;
import io.afterbay.experiments.storm.StormPage.Kind;
import io.afterbay.experiments.storm.StormPage.Place;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Which technique to use when, in Markdown: what each does on either side of the paper's conditions
 * (Du &amp; Gupta 2016, table 4), beside what the paper recommends.
 */
public final class StormGuide extends TrialPage<Kind, StormTrial> {
    private static final List<StormVariant> TECHNIQUES =
            List.of(StormVariant.SHARED, StormVariant.BALANCED, StormVariant.REPLAY);

    /** What techniques are compared with. */
    private static final List<StormVariant> BASELINES =
            List.of(StormVariant.SHUFFLE, StormVariant.LOAD_AWARE, StormVariant.LOAD_AWARE_64);

    /** Whose settings are shown in any case; of others, those that were measured. */
    private static final List<StormCell> ALWAYS =
            List.of(
                    StormCell.SLOW,
                    StormCell.OVERLOAD,
                    StormCell.REPLICATION,
                    StormCell.LIMITS,
                    StormCell.UNEVEN,
                    StormCell.BESIDE,
                    StormCell.MIXED);

    /** Where tasks of a bolt are not alike, or not as fast. */
    private static final Set<StormCell> HETEROGENEOUS =
            Set.of(
                    StormCell.SLOW,
                    StormCell.OVERLOAD,
                    StormCell.UNEVEN,
                    StormCell.BESIDE,
                    StormCell.MIXED,
                    StormCell.PAGE_LOAD_MIXED,
                    StormCell.PROCESSING_MIXED);

    /** (Section 5.1.4.) Below both there is room for replays, and above this one queues matter. */
    private static final int QUEUES_PERCENT = 58;

    private static final int PROCESSORS_PERCENT = 49;

    private static final MeasuredValue<StormTrial> CPU = run -> run.latency().cpuUsPerTuple();

    public StormGuide(List<RecordedTrial<StormTrial>> recorded) {
        super(recorded, Kind::of, Kind.COMPARATOR);
    }

    /** A row for each technique and setting; those that are not measured say so. */
    public String table() {
        List<String> header =
                List.of(
                        "setting",
                        "technique",
                        "the paper says",
                        "P99 to round robin",
                        "P99 to load-aware",
                        "P99 to load-aware-64",
                        "processor time to load-aware");
        return table(rows(), header, this::row);
    }

    private Stream<Kind> rows() {
        Set<Kind> all = new TreeSet<>(Kind.COMPARATOR);
        ALWAYS.forEach(cell -> all.addAll(usual(cell)));
        kinds().filter(kind -> TECHNIQUES.contains(StormVariant.named(kind.variant())))
                .forEach(all::add);
        return all.stream();
    }

    /** A cell's settings without options, with the techniques that it is about. */
    private static List<Kind> usual(StormCell cell) {
        StormLoad load = cell.load();
        return cell.shape().tasks().stream()
                .flatMap(
                        tasks ->
                                load.utilisations().stream()
                                        .flatMap(
                                                percent ->
                                                        load.busyPercents().stream()
                                                                .map(
                                                                        busy ->
                                                                                place(
                                                                                        cell, tasks,
                                                                                        percent,
                                                                                        busy))))
                .flatMap(
                        place ->
                                TECHNIQUES.stream()
                                        .filter(cell.variants()::contains)
                                        .map(technique -> new Kind(place, technique.label())))
                .toList();
    }

    private static Place place(StormCell cell, int tasks, int percent, int busyPercent) {
        return new Place(
                cell.label(),
                cell.shape().stages(),
                tasks,
                percent,
                cell.load().service().label(),
                cell.load().slowdown(),
                busyPercent);
    }

    private List<String> row(Kind kind) {
        String said = isRecommended(kind) ? "yes" : "no";
        if (of(kind).isEmpty()) {
            String none = ResultsPage.MISSING;
            return List.of(
                    kind.place().text(), kind.variant(), said, "not measured", none, none, none);
        }
        Stream<String> latencies = BASELINES.stream().map(one -> toThat(kind, one, StormPage.P99));
        return Stream.of(
                        Stream.of(kind.place().text(), kind.variant(), said),
                        latencies,
                        Stream.of(toThat(kind, StormVariant.LOAD_AWARE, CPU)))
                .flatMap(fields -> fields)
                .toList();
    }

    private String toThat(Kind kind, StormVariant baseline, MeasuredValue<StormTrial> figure) {
        return ratio(ratios(kind, new Kind(kind.place(), baseline.label()), figure));
    }

    /** By the paper's table 4. */
    private static boolean isRecommended(Kind kind) {
        Place place = kind.place();
        return switch (StormVariant.named(kind.variant())) {
            case SHARED -> place.utilisationPercent() >= QUEUES_PERCENT;
            case BALANCED -> HETEROGENEOUS.contains(StormCell.named(place.cell()));
            default ->
                    place.utilisationPercent() < QUEUES_PERCENT
                            && place.busyPercent() < PROCESSORS_PERCENT;
        };
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
