package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables about an experiment that has figures of its own, in Markdown, with what is aimed at
 * and whether it is met. Only runs that finished have figures, and only those that were right count
 * towards aims and ratios.
 *
 * @param <K> what runs have in common that are counted together
 */
public abstract class TrialPage<K, R extends Trial> {
    protected static final String OURS = "afterbay";
    protected static final String RIVAL = "rocksdb-heap-timers";

    private final TrialHistory<R> history;
    private final Function<R, K> kindOf;
    private final Map<K, List<R>> trials;

    protected TrialPage(
            List<RecordedTrial<R>> recorded, Function<R, K> kindOf, Comparator<K> order) {
        this.history = new TrialHistory<>(recorded);
        this.kindOf = kindOf;
        this.trials = new TreeMap<>(order);
        history.newest(kindOf)
                .forEach(
                        (kind, all) ->
                                trials.put(kind, all.stream().filter(Trial::finished).toList()));
    }

    protected static <R extends Trial> List<RecordedTrial<R>> read(
            Path directory, String experiment, Class<R> type) throws IOException {
        return RecordedTrial.read(directory, experiment, type);
    }

    /** What the experiment is about; aims of which nothing is recorded have no values. */
    public abstract List<Aim> aims();

    /** The tables, with a caption each. */
    protected abstract Stream<String> tables();

    /** Aims and tables; below them where the figures come from. */
    public final String details() {
        if (history.isEmpty()) {
            return ResultsPage.NONE;
        }
        String aims = aims().stream().map(Aim::item).collect(joining());
        return Stream.of(Stream.of(aims), tables(), Stream.of(history.circumstances(kindOf)))
                .flatMap(part -> part)
                .filter(part -> !part.isEmpty())
                .collect(joining("\n"));
    }

    /**
     * A table with a row for each kind; it ends with how many pairs the row rests on, and the
     * revision at which they were recorded.
     */
    protected final String table(
            Stream<K> rows, List<String> header, Function<K, List<String>> row) {
        MarkdownTable table = new MarkdownTable(Evidence.header(header));
        rows.forEach(kind -> table.row(evidence(kind, of(kind).size()).row(row.apply(kind))));
        return table.toString();
    }

    private Evidence evidence(K kind, int pairs) {
        return new Evidence(pairs, history.revision(kind, kindOf));
    }

    /** A value of an aim: the median; none without any. */
    protected final Stream<Aim.Value> value(K kind, String setting, double[] of) {
        return of.length == 0
                ? Stream.empty()
                : Stream.of(value(kind, setting, Ratio.median(of), of.length));
    }

    /** A value of an aim that was made of so many runs or pairs. */
    protected final Aim.Value value(K kind, String setting, double of, int pairs) {
        return new Aim.Value(setting, of, evidence(kind, pairs));
    }

    /** What was typed for the runs of these kinds that count, each once. */
    protected final String commands(Stream<K> of) {
        return of.flatMap(kind -> history.commands(kind, kindOf)).distinct().collect(joining("; "));
    }

    /** All kinds of runs, in the order in which to show them. */
    public final Stream<K> kinds() {
        return trials.keySet().stream();
    }

    /** The finished runs of a kind; none if there is no such kind. */
    protected final List<R> of(K kind) {
        return trials.getOrDefault(kind, List.of());
    }

    /** All finished runs. */
    protected final Stream<R> all() {
        return trials.values().stream().flatMap(List::stream);
    }

    /** What the runs of a kind that count have of a figure. */
    protected final double[] values(K kind, MeasuredValue<R> figure) {
        return values(of(kind), figure);
    }

    protected static <R extends Trial> double[] values(List<R> runs, MeasuredValue<R> figure) {
        return runs.stream()
                .filter(Trial::counts)
                .flatMap(run -> Stream.ofNullable(figure.of(run)))
                .mapToDouble(Double::doubleValue)
                .toArray();
    }

    /**
     * A figure of one kind to that of another: a ratio for each two runs of the same round, also if
     * the other kind has newer runs; none without such a round.
     */
    protected final double[] ratios(K kind, K other, MeasuredValue<R> figure) {
        return pairs(kind, other)
                .flatMapToDouble(pair -> ratio(figure.of(pair.run()), figure.of(pair.other())))
                .toArray();
    }

    /** The finished runs of a kind in the rounds that it is in together with another one. */
    protected final List<R> beside(K kind, K other) {
        return pairs(kind, other).map(TrialHistory.Pair::other).distinct().toList();
    }

    /** The finished runs of another kind at the revision of those of this one. */
    protected final List<R> ofSameRevision(K kind, K other) {
        return history.ofSameRevision(kind, other, kindOf).stream()
                .filter(Trial::finished)
                .toList();
    }

    private Stream<TrialHistory.Pair<R>> pairs(K kind, K other) {
        return history.pairs(kind, other, kindOf)
                .filter(pair -> pair.run().counts() && pair.other().counts());
    }

    private static DoubleStream ratio(@Nullable Double dividend, @Nullable Double divisor) {
        return dividend == null || divisor == null || divisor == 0
                ? DoubleStream.empty()
                : DoubleStream.of(dividend / divisor);
    }

    /** The median of a kind to that of another one; null if one of them has none. */
    protected static @Nullable Double growth(double[] here, double[] least) {
        return here.length == 0 || least.length == 0
                ? null
                : Ratio.median(here) / Ratio.median(least);
    }

    /** A field of a table: how much more it is, or a dash. */
    protected static String times(@Nullable Double growth) {
        return growth == null ? ResultsPage.MISSING : Numbers.format(growth) + "x";
    }

    /** A field of a table: ratios, or a dash without any. */
    protected static String ratio(double[] ratios) {
        return ratios.length == 0 ? ResultsPage.MISSING : ResultsPage.text(Ratio.of(ratios));
    }

    /** A field of a table: the figure of the runs of a kind. */
    protected final String range(K kind, MeasuredValue<R> figure) {
        return TrialHistory.range(of(kind).stream().map(figure::of));
    }
}
