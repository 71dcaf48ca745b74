package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import io.afterbay.bench.Result.Circumstances;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The tables of {@code docs/results.md} and of the README, in Markdown, from {@code bench/results}.
 * They stand in {@link GeneratedBlock}s; the text around them is written by hand.
 */
public final class ResultsPage {
    private static final List<String> OTHERS = List.of("rocksdb-heap-timers", "rocksdb", "hashmap");
    private static final List<Cell> LARGER =
            Arrays.stream(Cell.values()).filter(cell -> cell != Cell.IN_MEMORY).toList();
    private static final Cell HEADLINE = Cell.PAGE_CACHED;
    private static final String DEFAULT = "rocksdb";
    private static final String RIVAL = "rocksdb-heap-timers";
    private static final double AIM_DEFAULT = 3;
    private static final double AIM_BEST = Math.nextUp(4.12);
    private static final double AIM_CPU = 0.25;
    private static final String COMMAND = "./afterbay bench nexmark";
    public static final String NONE = "No comparison is recorded yet.\n";
    public static final String MISSING = "–";

    private final List<RecordedComparison> comparisons;

    public ResultsPage(List<Result> results) {
        this.comparisons = RecordedComparison.newest(results);
    }

    /** One row for each query: its throughput against the rival of each cell. */
    public String summary() {
        if (comparisons.isEmpty()) {
            return NONE;
        }
        List<String> header = new ArrayList<>(List.of("events/s, afterbay / other"));
        cells().map(ResultsPage::rivalry).forEach(header::add);
        header.add("revisions");
        MarkdownTable table = new MarkdownTable(header);
        comparisons.stream()
                .map(RecordedComparison::query)
                .distinct()
                .forEach(query -> table.row(summaryRow(query)));
        return table.toString();
    }

    private static String rivalry(Cell cell) {
        return "%s, to %s (aim %s)".formatted(cell.title(), cell.rival(), aim(cell));
    }

    private List<String> summaryRow(String query) {
        List<String> row = new ArrayList<>(List.of(code(query)));
        cells().map(cell -> summaryField(cell, query)).forEach(row::add);
        row.add(revisions(query));
        return row;
    }

    private String summaryField(Cell cell, String query) {
        return of(cell).stream()
                .filter(one -> one.query().equals(query))
                .findFirst()
                .map(one -> summaryField(one, cell.rival()))
                .orElse(MISSING);
    }

    private static String summaryField(RecordedComparison one, String rival) {
        Ratio ratio = one.ratio(rival, Figure.EVENTS_PER_S);
        return ratio == null
                ? whyNone(one, rival)
                : "%s, %s, %s".formatted(text(ratio), Evidence.pairs(one.pairs()), aimMet(one));
    }

    private String revisions(String query) {
        return comparisons.stream()
                .filter(one -> one.query().equals(query))
                .map(one -> one.evidence().revision())
                .distinct()
                .collect(joining(", "));
    }

    /** What is aimed at for the queries, cell by cell. */
    public List<Aim> aims() {
        Cell memory = Cell.IN_MEMORY;
        List<Aim> aims = new ArrayList<>();
        aims.add(events(memory, memory.rival(), memory.aim(), "on every query and script"));
        for (Cell cell : LARGER) {
            Aim events = events(cell, cell.rival(), cell.aim(), "on every query and script");
            aims.add(cell == HEADLINE ? events.asHeadline() : events);
            aims.add(events(cell, DEFAULT, AIM_DEFAULT, "on every query and script"));
        }
        aims.add(largeInMemory());
        aims.add(best());
        aims.add(cpu("writes", Figure.STORE_WRITE_CPU_US_PER_EVENT));
        aims.add(cpu("reads", Figure.STORE_READ_CPU_US_PER_EVENT));
        aims.add(cpu("compaction (all background work)", Figure.BACKGROUND_CPU_US_PER_EVENT));
        return aims;
    }

    private Aim events(Cell cell, String other, double bound, String where) {
        return new Aim(
                        "events/s, %s, to %s".formatted(lower(cell.title()), other),
                        "at least %s %s".formatted(times(bound), where),
                        true,
                        bound,
                        "x",
                        values(List.of(cell), other, Figure.EVENTS_PER_S),
                        "%s --cell %s".formatted(COMMAND, cell.jsonName()))
                .butNotIn(untold(cell, other));
    }

    /** Comparisons in which that backend, or ours, ran and failed. */
    private List<String> untold(Cell cell, String other) {
        return of(cell).stream()
                .filter(one -> one.ran(other) && one.ratio(other, Figure.EVENTS_PER_S) == null)
                .map(one -> "%s (%s)".formatted(code(one.query()), whyNone(one, other)))
                .toList();
    }

    /**
     * Where collections of a large heap hurt. No cell is of that size, so that nothing is recorded
     * of it.
     */
    private static Aim largeInMemory() {
        return new Aim(
                "events/s, state in memory, 2 GB or more, to hashmap",
                "above 1x on every query and script",
                true,
                Math.nextUp(1.0),
                "x",
                List.of(),
                "./afterbay compare nexmark --query q7 --backends afterbay,hashmap --memory 8g");
    }

    /** FlowKV's gain over RocksDB as it comes was 4.12x on the best of its queries. */
    private Aim best() {
        List<Aim.Value> all = values(LARGER, DEFAULT, Figure.EVENTS_PER_S);
        return new Aim(
                "the best of them, to " + DEFAULT,
                "above 4.12x on the best query",
                true,
                AIM_BEST,
                "x",
                all.stream().max(Comparator.comparingDouble(Aim.Value::value)).stream().toList(),
                COMMAND + " --backends afterbay,rocksdb");
    }

    /** FlowKV's gain over RocksDB was at least that in each of the three. */
    private Aim cpu(String part, Figure figure) {
        return new Aim(
                "CPU time of the store per event for %s; state larger than memory, to %s"
                        .formatted(part, RIVAL),
                "at most a quarter",
                false,
                AIM_CPU,
                "x",
                values(LARGER, RIVAL, figure),
                COMMAND);
    }

    private List<Aim.Value> values(List<Cell> cells, String other, Figure figure) {
        List<Aim.Value> values = new ArrayList<>();
        for (RecordedComparison one : comparisons) {
            Ratio ratio = cells.contains(one.cell()) ? one.ratio(other, figure) : null;
            if (ratio != null) {
                String setting = code(one.query());
                values.add(
                        new Aim.Value(
                                cells.size() == 1
                                        ? setting
                                        : setting + ", " + one.cell().jsonName(),
                                ratio.median(),
                                one.evidence()));
            }
        }
        return values;
    }

    private static String lower(String title) {
        return Character.toLowerCase(title.charAt(0)) + title.substring(1);
    }

    /** For each cell its tables, what failed, and how to repeat it. */
    public String details() {
        return comparisons.isEmpty() ? NONE : cells().map(this::section).collect(joining("\n"));
    }

    private Stream<Cell> cells() {
        return Arrays.stream(Cell.values()).filter(cell -> !of(cell).isEmpty());
    }

    private List<RecordedComparison> of(Cell cell) {
        return comparisons.stream().filter(one -> one.cell() == cell).toList();
    }

    private String section(Cell cell) {
        List<RecordedComparison> rows = of(cell);
        return Stream.of(
                        "## " + cell.title() + "\n",
                        aims(cell),
                        throughput(rows),
                        lessIsBetter(rows, "CPU time per event", Figure.CPU_US_PER_EVENT),
                        lessIsBetter(
                                rows,
                                "CPU time per event of the threads of tasks",
                                Figure.TASK_CPU_US_PER_EVENT),
                        lessIsBetter(
                                rows,
                                "CPU time per event of the state's threads in the background"
                                        + " (flush, compaction, asynchronous part of checkpoints)",
                                Figure.BACKGROUND_CPU_US_PER_EVENT),
                        new StoreCpuTable(rows).toString(),
                        lessIsBetter(rows, "P99.9 of the latency", Figure.P999_MS),
                        failures(rows),
                        circumstances(rows))
                .filter(part -> !part.isEmpty())
                .collect(joining("\n"));
    }

    private String aims(Cell cell) {
        return "Aim: at least %s the events/s of %s. %s\n"
                .formatted(
                        aim(cell),
                        cell.rival(),
                        events(cell, cell.rival(), cell.aim(), "").count());
    }

    private static String throughput(List<RecordedComparison> rows) {
        MarkdownTable table = new MarkdownTable(Evidence.header(header("rows", "aim")));
        for (RecordedComparison one : rows) {
            List<String> row = ratios(one, Figure.EVENTS_PER_S);
            row.addAll(List.of(outputs(one), aimMet(one)));
            table.row(one.evidence().row(row));
        }
        return caption("Events per second", "more") + table;
    }

    private static String lessIsBetter(List<RecordedComparison> rows, String name, Figure figure) {
        if (rows.stream().allMatch(one -> figure.median(one.runs()) == null)) {
            return "";
        }
        MarkdownTable table = new MarkdownTable(Evidence.header(header()));
        rows.forEach(one -> table.row(one.evidence().row(ratios(one, figure))));
        return caption(name, "less") + table;
    }

    private static String caption(String name, String better) {
        return "%s, afterbay / other, %s is better: median of the pairs [lowest..highest]\n\n"
                .formatted(name, better);
    }

    private static List<String> header(String... more) {
        List<String> header = new ArrayList<>(List.of("query"));
        header.addAll(OTHERS);
        header.addAll(List.of(more));
        return header;
    }

    private static List<String> ratios(RecordedComparison one, Figure figure) {
        List<String> row = new ArrayList<>(List.of(code(one.query())));
        OTHERS.forEach(other -> row.add(ratio(one, other, figure)));
        return row;
    }

    private static String ratio(RecordedComparison one, String other, Figure figure) {
        Ratio ratio = one.ratio(other, figure);
        return ratio == null ? whyNone(one, other) : text(ratio);
    }

    static String text(Ratio ratio) {
        return String.format(
                Locale.ROOT, "%.2f [%.2f..%.2f]", ratio.median(), ratio.min(), ratio.max());
    }

    private static String whyNone(RecordedComparison one, String other) {
        if (!one.ran(other)) {
            return MISSING;
        }
        if (one.rowsDiffer()) {
            return "rows differ";
        }
        String failed =
                Stream.of(Ratios.ours(one.runs()), other)
                        .filter(one::failed)
                        .collect(joining(" and "));
        return failed.isEmpty() ? MISSING : failed + " failed";
    }

    private static String outputs(RecordedComparison one) {
        Boolean equal = one.circumstances().outputsEqual();
        if (equal == null) {
            return "not compared";
        }
        return equal ? "equal" : "**differ**";
    }

    private static String aimMet(RecordedComparison one) {
        Boolean met = one.meetsAim();
        if (met == null) {
            return MISSING;
        }
        return met ? "met" : "not met";
    }

    private static String aim(Cell cell) {
        return times(cell.aim());
    }

    private static String times(double value) {
        return String.format(Locale.ROOT, "%.1fx", value);
    }

    private static String failures(List<RecordedComparison> rows) {
        String failures =
                rows.stream()
                        .flatMap(one -> one.failures().map(text -> item(one.query(), text)))
                        .collect(joining());
        return failures.isEmpty() ? "" : "Failed runs:\n\n" + failures;
    }

    private static String item(String query, String text) {
        return "- %s, %s\n".formatted(code(query), text);
    }

    private static String circumstances(List<RecordedComparison> rows) {
        String commands =
                rows.stream()
                        .map(one -> one.circumstances().command())
                        .distinct()
                        .collect(joining("\n"));
        return "%s. To repeat:\n\n```sh\n%s\n```\n".formatted(when(rows), commands);
    }

    private static String when(List<RecordedComparison> rows) {
        TreeSet<String> texts = new TreeSet<>();
        rows.forEach(one -> texts.add(when(one.circumstances())));
        return "Recorded " + String.join(", ", texts) + load(rows);
    }

    private static String when(Circumstances of) {
        return when(of.date(), of.revision(), of.versions());
    }

    static String when(String date, String revision, Map<String, String> versions) {
        String all =
                versions.entrySet().stream()
                        .sorted(Map.Entry.comparingByKey())
                        .map(version -> version.getKey() + " " + version.getValue())
                        .collect(joining(", "));
        return "%s at revision %s (%s)".formatted(date.split("T")[0], revision, all);
    }

    /** How busy the machine was with other work. */
    private static String load(List<RecordedComparison> rows) {
        OptionalDouble load =
                rows.stream()
                        .map(one -> one.circumstances().loadBefore())
                        .filter(Objects::nonNull)
                        .mapToDouble(Double::doubleValue)
                        .max();
        return load.isEmpty()
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; load average before a comparison at most %.1f",
                        load.getAsDouble());
    }

    private static String code(String text) {
        return "`" + text + "`";
    }
}
