package io.afterbay.experiments.storm;

import io.afterbay.bench.Aim;
import io.afterbay.bench.MeasuredValue;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.bench.TrialPage;
import io.afterbay.experiments.storm.StormPage.Kind;
import java.util.ArrayList;
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
                    StormCell.BESIDE_CGROUP,
                    StormCell.MIXED,
                    StormCell.MIXED_CGROUP);

    /** Where tasks of a bolt are not alike, or not as fast. */
    private static final Set<StormCell> HETEROGENEOUS =
            Set.of(
                    StormCell.SLOW,
                    StormCell.OVERLOAD,
                    StormCell.UNEVEN,
                    StormCell.BESIDE,
                    StormCell.BESIDE_CGROUP,
                    StormCell.MIXED,
                    StormCell.MIXED_CGROUP,
                    StormCell.PAGE_LOAD_MIXED,
                    StormCell.PROCESSING_MIXED);

    /** Which column says that there is none. */
    private static final int FIRST_RATIO = 3;

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
        ALWAYS.forEach(cell -> usual(cell).forEach(all::add));
        kinds().filter(kind -> TECHNIQUES.contains(StormVariant.named(kind.variant())))
                .forEach(all::add);
        return all.stream();
    }

    /** A cell's settings without options, with the techniques that it is about. */
    private static Stream<Kind> usual(StormCell cell) {
        return TECHNIQUES.stream()
                .filter(cell.variants()::contains)
                .flatMap(one -> places(cell).stream().map(place -> new Kind(place, one.label())));
    }

    private static List<StormPlace> places(StormCell cell) {
        List<StormPlace> places = new ArrayList<>();
        for (int tasks : cell.shape().tasks()) {
            for (int percent : cell.load().utilisations()) {
                for (int busyPercent : cell.load().busyPercents()) {
                    places.add(StormPlace.usual(cell, tasks, percent, busyPercent));
                }
            }
        }
        return places;
    }

    private List<String> row(Kind kind) {
        List<String> row = new ArrayList<>();
        row.add(kind.place().text());
        row.add(kind.variant());
        row.add(isRecommended(kind) ? "yes" : "no");
        BASELINES.forEach(one -> row.add(toThat(kind, one, StormPage.P99)));
        row.add(toThat(kind, StormVariant.LOAD_AWARE, CPU));
        if (of(kind).isEmpty()) {
            row.set(FIRST_RATIO, "not measured");
        }
        return row;
    }

    private String toThat(Kind kind, StormVariant baseline, MeasuredValue<StormTrial> figure) {
        return ratio(ratios(kind, new Kind(kind.place(), baseline.label()), figure));
    }

    /** By the paper's table 4. */
    private static boolean isRecommended(Kind kind) {
        StormPlace place = kind.place();
        return switch (StormVariant.named(kind.variant())) {
            case SHARED -> place.hasBusyQueues();
            case BALANCED -> HETEROGENEOUS.contains(StormCell.named(place.cell()));
            default -> !place.hasBusyQueues() && !place.hasBusyProcessors();
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
