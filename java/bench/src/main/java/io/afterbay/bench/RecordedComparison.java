package io.afterbay.bench;

import static java.util.Comparator.comparing;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.afterbay.bench.Result.Circumstances;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One comparison in {@code bench/results}: the runs of one query in one cell that belong together.
 */
record RecordedComparison(List<Result> results) {
    private static final List<String> QUERIES =
            List.of("q5", "q5-append", "q7", "q7-session", "q8", "q11", "q11-median", "q12");

    private static final Comparator<RecordedComparison> ORDER =
            comparing(RecordedComparison::cell)
                    .thenComparing(RecordedComparison::rank)
                    .thenComparing(RecordedComparison::query);

    private record Key(String experiment, Cell cell, String query) {
        private static Key of(Result result) {
            Circumstances of = result.circumstances();
            return new Key(of.experiment(), of.cell(), of.query());
        }
    }

    /** The newest of each query in each cell, in the order in which to show them. */
    static List<RecordedComparison> newest(List<Result> all) {
        Map<Key, List<Result>> byKey =
                all.stream().collect(groupingBy(Key::of, LinkedHashMap::new, toList()));
        return byKey.values().stream().map(RecordedComparison::newestOf).sorted(ORDER).toList();
    }

    private static RecordedComparison newestOf(List<Result> history) {
        TreeMap<String, List<Result>> byDate =
                history.stream()
                        .collect(
                                groupingBy(
                                        one -> one.circumstances().date(), TreeMap::new, toList()));
        return new RecordedComparison(byDate.lastEntry().getValue());
    }

    Cell cell() {
        return circumstances().cell();
    }

    String query() {
        return circumstances().query();
    }

    /** Those of its first run. */
    Circumstances circumstances() {
        return results.get(0).circumstances();
    }

    /** The known queries first. */
    private int rank() {
        int index = QUERIES.indexOf(query());
        return index < 0 ? QUERIES.size() : index;
    }

    List<Run> runs() {
        return results.stream().map(Result::run).toList();
    }

    /** Null without a pair, and if rows differ: then one of the two did something else. */
    @Nullable Ratio ratio(String other, Figure figure) {
        if (rowsDiffer()) {
            return null;
        }
        double[] values = Ratios.values(runs(), other, figure);
        return values.length == 0 ? null : Ratio.of(values);
    }

    boolean rowsDiffer() {
        return Boolean.FALSE.equals(circumstances().outputsEqual());
    }

    long pairs() {
        return runs().stream().map(Run::pair).distinct().count();
    }

    Evidence evidence() {
        return new Evidence(pairs(), circumstances().revision());
    }

    boolean ran(String backend) {
        return !runsOf(backend).isEmpty();
    }

    /** Whether that backend ran, and no run of it finished. */
    boolean failed(String backend) {
        return ran(backend) && runsOf(backend).stream().noneMatch(Run::finished);
    }

    /** The runs of one backend. */
    List<Run> runsOf(String backend) {
        return runs().stream().filter(run -> run.backend().equals(backend)).toList();
    }

    /** The median is at least what the cell aims at; null if that cannot be told. */
    @Nullable Boolean meetsAim() {
        Ratio ratio = ratio(cell().rival(), Figure.EVENTS_PER_S);
        return ratio == null ? null : ratio.median() >= cell().aim();
    }

    /** Each backend that failed, how often, and why: {@code hashmap, 5 of 5: out of memory}. */
    Stream<String> failures() {
        return runs().stream().map(Run::backend).distinct().flatMap(this::failures);
    }

    private Stream<String> failures(String backend) {
        List<Run> all = runsOf(backend);
        List<String> reasons = all.stream().map(Run::failure).filter(Objects::nonNull).toList();
        return reasons.isEmpty()
                ? Stream.empty()
                : Stream.of(
                        "%s, %d of %d: %s"
                                .formatted(
                                        backend,
                                        reasons.size(),
                                        all.size(),
                                        String.join("; ", reasons.stream().distinct().toList())));
    }
}
