package io.afterbay.bench;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/** What is recorded of an experiment, and which of it counts. */
public final class TrialHistory<R extends Trial> {
    private final List<RecordedTrial<R>> recorded;

    TrialHistory(List<RecordedTrial<R>> recorded) {
        this.recorded = recorded;
    }

    boolean isEmpty() {
        return recorded.isEmpty();
    }

    /** Of each kind of run, in the order of its first one, those of the newest revision. */
    <K> Map<K, List<R>> newest(Function<R, K> kind) {
        Map<K, List<R>> newest = new LinkedHashMap<>();
        byKind(kind)
                .forEach(
                        (key, trials) ->
                                newest.put(key, trials.stream().map(RecordedTrial::run).toList()));
        return newest;
    }

    /** A run that counts, and one of another kind in the same round. */
    record Pair<R>(R run, R other) {}

    /**
     * The runs of a kind that count, each with those of another kind in its round, whatever else
     * there is of them.
     */
    <K> Stream<Pair<R>> pairs(K kind, K other, Function<R, K> kindOf) {
        List<RecordedTrial<R>> others =
                recorded.stream().filter(one -> kindOf.apply(one.run()).equals(other)).toList();
        return byKind(kindOf).getOrDefault(kind, List.of()).stream()
                .flatMap(
                        one ->
                                others.stream()
                                        .filter(there -> there.round().equals(one.round()))
                                        .map(there -> new Pair<>(one.run(), there.run())));
    }

    /**
     * All runs of another kind at the revision of those of this kind that count. For sizes that are
     * compared across rounds, each of which has one.
     */
    <K> List<R> ofSameRevision(K kind, K other, Function<R, K> kindOf) {
        List<RecordedTrial<R>> here = byKind(kindOf).getOrDefault(kind, List.of());
        return recorded.stream()
                .filter(one -> kindOf.apply(one.run()).equals(other))
                .filter(one -> !here.isEmpty() && revision(one).equals(revision(here.get(0))))
                .map(RecordedTrial::run)
                .toList();
    }

    /** That of the runs of a kind that count; a dash without any. */
    <K> String revision(K kind, Function<R, K> kindOf) {
        return ofKind(kind, kindOf)
                .findFirst()
                .map(TrialHistory::revision)
                .orElse(ResultsPage.MISSING);
    }

    /** What was typed for the runs of a kind that count. */
    <K> Stream<String> commands(K kind, Function<R, K> kindOf) {
        return ofKind(kind, kindOf).map(one -> one.provenance().command());
    }

    private <K> Stream<RecordedTrial<R>> ofKind(K kind, Function<R, K> kindOf) {
        return byKind(kindOf).getOrDefault(kind, List.of()).stream();
    }

    private static String revision(RecordedTrial<?> trial) {
        return trial.provenance().revision();
    }

    private <K> Map<K, List<RecordedTrial<R>>> byKind(Function<R, K> kind) {
        Map<K, List<RecordedTrial<R>>> byKind =
                recorded.stream()
                        .collect(
                                groupingBy(
                                        one -> kind.apply(one.run()),
                                        LinkedHashMap::new,
                                        toList()));
        byKind.replaceAll((key, trials) -> ofNewestRevision(trials));
        return byKind;
    }

    private static <R extends Trial> List<RecordedTrial<R>> ofNewestRevision(
            List<RecordedTrial<R>> trials) {
        String newest = revision(trials.get(trials.size() - 1));
        return trials.stream().filter(trial -> revision(trial).equals(newest)).toList();
    }

    /** When and on what those that count were recorded, why some failed, and how to repeat them. */
    <K> String circumstances(Function<R, K> kind) {
        List<RecordedTrial<R>> counted =
                byKind(kind).values().stream().flatMap(Collection::stream).toList();
        TreeSet<String> when = new TreeSet<>();
        TreeSet<String> commands = new TreeSet<>();
        for (RecordedTrial<R> trial : counted) {
            when.add(when(trial.provenance()));
            commands.add(trial.provenance().command());
        }
        return "%sRecorded %s%s. To repeat:\n\n```sh\n%s\n```\n"
                .formatted(
                        failures(counted),
                        String.join(", ", when),
                        load(counted),
                        String.join("\n", commands));
    }

    private static String when(Provenance of) {
        return ResultsPage.when(of.date(), of.revision(), of.versions());
    }

    private static String failures(List<? extends RecordedTrial<?>> trials) {
        String failures =
                trials.stream()
                        .map(trial -> (Trial) trial.run())
                        .filter(run -> !run.finished())
                        .map(run -> "- %s: %s\n".formatted(run.backend(), run.failure()))
                        .distinct()
                        .collect(joining());
        return failures.isEmpty() ? "" : "Failed runs:\n\n" + failures + "\n";
    }

    private static String load(List<? extends RecordedTrial<?>> trials) {
        double other =
                trials.stream()
                        .map(trial -> trial.provenance().otherCores())
                        .filter(Objects::nonNull)
                        .mapToDouble(Double::doubleValue)
                        .max()
                        .orElse(Double.NaN);
        return Double.isNaN(other)
                ? ""
                : String.format(Locale.ROOT, "; other work used at most %.2f processors", other);
    }

    /** A field of a table: whether the counts of all runs were right. */
    public static String counts(Stream<Boolean> right) {
        List<Boolean> all = right.map(Boolean.TRUE::equals).toList();
        if (all.isEmpty()) {
            return ResultsPage.MISSING;
        }
        return all.contains(false) ? "**wrong**" : "right";
    }

    /** The fixed rates of runs, for a caption; nothing without any. */
    public static String rates(Stream<Double> ratesPerS) {
        String rates =
                ratesPerS
                        .filter(Objects::nonNull)
                        .map(rate -> Numbers.format(rate) + "/s")
                        .distinct()
                        .collect(joining(", "));
        return rates.isEmpty() ? "" : ", " + rates;
    }

    /** A field of a table: the median, with the lowest and the highest; a dash without any. */
    static String range(Stream<Double> values) {
        double[] all = values.filter(Objects::nonNull).mapToDouble(Double::doubleValue).toArray();
        if (all.length == 0) {
            return ResultsPage.MISSING;
        }
        Ratio range = Ratio.of(all);
        return "%s [%s..%s]"
                .formatted(
                        Numbers.format(range.median()),
                        Numbers.format(range.min()),
                        Numbers.format(range.max()));
    }
}
