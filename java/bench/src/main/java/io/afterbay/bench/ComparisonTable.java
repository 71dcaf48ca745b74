package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A comparison for the terminal: the medians of each backend, the ratios pair by pair, the runs
 * that failed, whether the outputs were equal.
 */
public final class ComparisonTable {
    private final Comparison comparison;
    private final List<Run> runs;
    private final String ours;
    private final List<String> others;

    private ComparisonTable(Comparison comparison) {
        this.comparison = comparison;
        this.runs = comparison.runs();
        this.ours = Ratios.ours(runs);
        this.others = Ratios.others(runs);
    }

    /** Several lines, each with its end. */
    public static String render(Comparison comparison) {
        return new ComparisonTable(comparison).render();
    }

    private String render() {
        return Stream.of(medians(), ratios(), failures(), notes(), environment())
                .filter(block -> !block.isEmpty())
                .collect(joining("\n", comparison.target() + "\n\n", ""));
    }

    private String medians() {
        TextTable table = new TextTable(header("median", backends()));
        table.row(row("finished runs", "", backends(), this::finished));
        for (Figure figure : measured()) {
            table.row(
                    row(
                            figure.label(),
                            better(figure),
                            backends(),
                            backend -> Numbers.format(figure.median(runsOf(backend)))));
        }
        return table.toString();
    }

    private String ratios() {
        if (others.isEmpty()) {
            return "";
        }
        TextTable table = new TextTable(header(ours + " / other", others));
        for (Figure figure : measured()) {
            table.row(
                    row(
                            figure.label(),
                            better(figure),
                            others,
                            other -> ratio(figure, comparison.ratio(other, figure))));
        }
        return table
                + """
                median of the pairs [lowest..highest]; + better in all pairs, - worse in all, ~ neither
                """;
    }

    private String failures() {
        return runs.stream()
                .filter(run -> !run.finished())
                .map(
                        run ->
                                "failed: %s, pair %d: %s\n"
                                        .formatted(run.backend(), run.pair(), run.failure()))
                .collect(joining());
    }

    private String notes() {
        return "outputs: %s\nlatency: %s\n".formatted(outputs(), latency());
    }

    private String outputs() {
        if (comparison.outputsEqual() == null) {
            return "not compared";
        }
        return comparison.outputsEqual()
                ? "the same rows in all finished runs"
                : "DIFFERENT ROWS; the figures compare jobs that did not do the same";
    }

    private String latency() {
        if (comparison.hasMarkerLatency()) {
            return "of Flink's latency markers, which bypass what an operator does with an event;"
                    + " at the job's own pace";
        }
        return "from the time an event was due to its result, "
                + (comparison.ratePerS() == null
                        ? "as fast as possible"
                        : "at %s events/s".formatted(Numbers.format(comparison.ratePerS())));
    }

    private String environment() {
        return comparison.environment().entrySet().stream()
                .map(entry -> "%s: %s\n".formatted(entry.getKey(), entry.getValue()))
                .collect(joining());
    }

    private interface Cell {
        String of(String backend);
    }

    private static List<String> header(String title, List<String> backends) {
        return row(title, "better", backends, backend -> backend);
    }

    private static List<String> row(String name, String better, List<String> backends, Cell cell) {
        List<String> row = new ArrayList<>(List.of(name, better));
        backends.forEach(backend -> row.add(cell.of(backend)));
        return row;
    }

    private List<String> backends() {
        return Stream.concat(Stream.of(ours), others.stream()).toList();
    }

    private List<Figure> measured() {
        return Stream.of(Figure.values()).filter(figure -> figure.median(runs) != null).toList();
    }

    private List<Run> runsOf(String backend) {
        return runs.stream().filter(run -> run.backend().equals(backend)).toList();
    }

    private String finished(String backend) {
        List<Run> all = runsOf(backend);
        return "%d of %d".formatted(all.stream().filter(Run::finished).count(), all.size());
    }

    private static String better(Figure figure) {
        return figure.moreIsBetter() ? "more" : "less";
    }

    private static String ratio(Figure figure, @Nullable Ratio ratio) {
        return ratio == null
                ? "-"
                : String.format(
                        Locale.ROOT,
                        "%.2f [%.2f..%.2f] %s",
                        ratio.median(),
                        ratio.min(),
                        ratio.max(),
                        sign(figure, ratio));
    }

    private static String sign(Figure figure, Ratio ratio) {
        if (ratio.min() <= 1 && ratio.max() >= 1) {
            return "~";
        }
        return ratio.min() > 1 == figure.moreIsBetter() ? "+" : "-";
    }
}
