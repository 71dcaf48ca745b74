package io.afterbay.bench;

import static io.afterbay.bench.Figure.CPU_US_PER_EVENT;
import static io.afterbay.bench.Figure.EVENTS_PER_S;
import static io.afterbay.bench.RunBuilder.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.bench.Result.Circumstances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ResultsPageTest {
    /** Rewrites the documents instead of comparing: -Dafterbay.docs.write=true. */
    private static final boolean WRITE = Boolean.getBoolean("afterbay.docs.write");

    private static final Path PROJECT = Path.of("../..");

    private static final Pattern PAIRS = Pattern.compile("one pair, indicative|\\b\\d+ pairs");
    private static final Pattern REVISION = Pattern.compile("\\b[0-9a-f]{12}\\b");

    private final List<Result> results = new ArrayList<>();

    private void record(Cell cell, String query, String date, Boolean outputsEqual, Run... runs) {
        Circumstances circumstances =
                new Circumstances(
                        "nexmark",
                        cell,
                        query,
                        1000,
                        outputsEqual,
                        "7d5850f",
                        Map.of("flink", "2.3.0", "java", "17.0.15"),
                        "./afterbay bench nexmark --cell " + cell.jsonName(),
                        date,
                        0.2,
                        1.9);
        for (Run run : runs) {
            results.add(new Result(circumstances, run));
        }
    }

    private static Run figures(String backend, int pair, double eventsPerS, double cpuUsPerEvent) {
        return run(backend, pair)
                .with(EVENTS_PER_S, eventsPerS)
                .with(CPU_US_PER_EVENT, cpuUsPerEvent)
                .build();
    }

    private void recordSome() {
        record(
                Cell.LIMITED,
                "q12",
                "2026-11-20T10:00:00Z",
                true,
                figures("afterbay", 1, 190, 1),
                figures("rocksdb-heap-timers", 1, 100, 2),
                run("hashmap", 1).failed("out of memory").build());
        record(
                Cell.IN_MEMORY,
                "examples/nexmark-sql/q12.sql",
                "2026-11-20T11:00:00Z",
                null,
                run("afterbay", 1).failed("disk full").build(),
                figures("hashmap", 1, 100, 2));
        record(
                Cell.IN_MEMORY,
                "q7",
                "2026-11-20T12:00:00Z",
                true,
                figures("afterbay", 1, 100, 2),
                figures("hashmap", 1, 100, 1),
                figures("afterbay", 2, 90, 2),
                figures("hashmap", 2, 100, 1));
    }

    @Test
    void hasATableForEachCell() {
        recordSome();
        assertThat(new ResultsPage(results).details())
                .isEqualTo(
                        """
                        ## State in memory

                        Aim: at least 0.9x the events/s of hashmap. Met by 1 of 1; nothing to compare with in 1 more: `examples/nexmark-sql/q12.sql` (afterbay failed).

                        Events per second, afterbay / other, more is better: median of the pairs [lowest..highest]

                        | query | rocksdb-heap-timers | rocksdb | hashmap | rows | aim | pairs | revision |
                        |---|---|---|---|---|---|---|---|
                        | `q7` | – | – | 0.95 [0.90..1.00] | equal | met | 2 pairs | 7d5850f |
                        | `examples/nexmark-sql/q12.sql` | – | – | afterbay failed | not compared | – | one pair, indicative | 7d5850f |

                        CPU time per event, afterbay / other, less is better: median of the pairs [lowest..highest]

                        | query | rocksdb-heap-timers | rocksdb | hashmap | pairs | revision |
                        |---|---|---|---|---|---|
                        | `q7` | – | – | 2.00 [2.00..2.00] | 2 pairs | 7d5850f |
                        | `examples/nexmark-sql/q12.sql` | – | – | afterbay failed | one pair, indicative | 7d5850f |

                        Failed runs:

                        - `examples/nexmark-sql/q12.sql`, afterbay, 1 of 1: disk full

                        Recorded 2026-11-20 at revision 7d5850f (flink 2.3.0, java 17.0.15); load average before a comparison at most 0.2. To repeat:

                        ```sh
                        ./afterbay bench nexmark --cell memory
                        ```

                        ## State of 4x the memory, under a cgroup limit

                        Aim: at least 2.0x the events/s of rocksdb-heap-timers. Met by 0 of 1.

                        Events per second, afterbay / other, more is better: median of the pairs [lowest..highest]

                        | query | rocksdb-heap-timers | rocksdb | hashmap | rows | aim | pairs | revision |
                        |---|---|---|---|---|---|---|---|
                        | `q12` | 1.90 [1.90..1.90] | – | hashmap failed | equal | not met | one pair, indicative | 7d5850f |

                        CPU time per event, afterbay / other, less is better: median of the pairs [lowest..highest]

                        | query | rocksdb-heap-timers | rocksdb | hashmap | pairs | revision |
                        |---|---|---|---|---|---|
                        | `q12` | 0.50 [0.50..0.50] | – | hashmap failed | one pair, indicative | 7d5850f |

                        Failed runs:

                        - `q12`, hashmap, 1 of 1: out of memory

                        Recorded 2026-11-20 at revision 7d5850f (flink 2.3.0, java 17.0.15); load average before a comparison at most 0.2. To repeat:

                        ```sh
                        ./afterbay bench nexmark --cell 4x-cgroup
                        ```
                        """);
    }

    private static Run storeFigures(
            String backend, int pair, double tasks, double write, double read, double background) {
        return run(backend, pair)
                .with(Figure.EVENTS_PER_S, 100)
                .with(Figure.TASK_CPU_US_PER_EVENT, tasks)
                .with(Figure.STORE_WRITE_CPU_US_PER_EVENT, write)
                .with(Figure.STORE_READ_CPU_US_PER_EVENT, read)
                .with(Figure.BACKGROUND_CPU_US_PER_EVENT, background)
                .build();
    }

    @Test
    void theStoresPartsOfTheCpuTimeAreToldApart() {
        record(
                Cell.PAGE_CACHED,
                "q12",
                "2026-11-21T00:00:00Z",
                true,
                storeFigures("afterbay", 1, 4, 1, 2, 0.5),
                storeFigures("rocksdb-heap-timers", 1, 12, 5, 4, 0),
                storeFigures("afterbay", 2, 5, 2, 2, 0.5),
                storeFigures("rocksdb-heap-timers", 2, 13, 5, 6, 0));
        ResultsPage page = new ResultsPage(results);
        assertThat(page.details())
                .contains(
                        """
                        | query | backend | writes, us | reads, us | compaction, us | rest of the tasks, us | afterbay / it, writes | reads | compaction | pairs | revision |
                        |---|---|---|---|---|---|---|---|---|---|---|
                        | `q12` | `afterbay` | 1.50 [1.00..2.00] | 2.00 [2.00..2.00] | 0.50 [0.50..0.50] | 1.00 [1.00..1.00] | – | – | – | 2 pairs | 7d5850f |
                        | `q12` | `rocksdb-heap-timers` | 5.00 [5.00..5.00] | 5.00 [4.00..6.00] | 0 [0..0] | 2.50 [2.00..3.00] | 0.30 [0.20..0.40] | 0.42 [0.33..0.50] | – | 2 pairs | 7d5850f |
                        """);
        Map<String, Aim> aims = new HashMap<>();
        page.aims().forEach(aim -> aims.put(aim.measure(), aim));
        String to = "; state larger than memory, to rocksdb-heap-timers";
        assertThat(aims.get("CPU time of the store per event for writes" + to).measured())
                .isEqualTo("0.30x (`q12`, 4x-page-cached)");
        assertThat(aims.get("CPU time of the store per event for reads" + to).verdict())
                .isEqualTo("**not met**");
        assertThat(
                        aims.get(
                                        "CPU time of the store per event for compaction (all background"
                                                + " work)"
                                                + to)
                                .verdict())
                .as("nothing to compare with")
                .isEqualTo("not measured");
    }

    @Test
    void hasASummary() {
        recordSome();
        assertThat(new ResultsPage(results).summary())
                .isEqualTo(
                        """
                        | events/s, afterbay / other | State in memory, to hashmap (aim 0.9x) | State of 4x the memory, under a cgroup limit, to rocksdb-heap-timers (aim 2.0x) | revisions |
                        |---|---|---|---|
                        | `q7` | 0.95 [0.90..1.00], 2 pairs, met | – | 7d5850f |
                        | `examples/nexmark-sql/q12.sql` | afterbay failed | – | 7d5850f |
                        | `q12` | – | 1.90 [1.90..1.90], one pair, indicative, not met | 7d5850f |
                        """);
    }

    @Test
    void showsTheNewestOfEachQuery() {
        record(
                Cell.IN_MEMORY,
                "q7",
                "2026-11-21T00:00:00Z",
                true,
                figures("afterbay", 1, 300, 1),
                figures("hashmap", 1, 100, 1));
        record(
                Cell.IN_MEMORY,
                "q7",
                "2026-11-20T00:00:00Z",
                true,
                figures("afterbay", 1, 100, 1),
                figures("hashmap", 1, 100, 1));
        assertThat(new ResultsPage(results).details())
                .contains("3.00 [3.00..3.00] | equal | met | one pair, indicative |")
                .doesNotContain("1.00 [1.00..1.00] | 1");
    }

    @Test
    void nothingIsMetByRowsThatDiffer() {
        record(
                Cell.IN_MEMORY,
                "q7",
                "2026-11-21T00:00:00Z",
                false,
                figures("afterbay", 1, 300, 1),
                figures("hashmap", 1, 100, 1));
        ResultsPage page = new ResultsPage(results);
        assertThat(page.details())
                .contains("| rows differ | **differ** | – | one pair, indicative |");
        assertThat(page.aims())
                .allSatisfy(aim -> assertThat(aim.values()).as(aim.measure()).isEmpty())
                .anySatisfy(aim -> assertThat(aim.untold()).containsExactly("`q7` (rows differ)"));
    }

    @Test
    void keepsTheTextAroundABlock() {
        String document = "by hand\n<!-- generated: x -->\nold\n<!-- end: x -->\nby hand too\n";
        assertThat(new GeneratedBlock("x").replace(document, "new\n"))
                .isEqualTo("by hand\n<!-- generated: x -->\nnew\n<!-- end: x -->\nby hand too\n");
        assertThatThrownBy(() -> new GeneratedBlock("y").replace(document, "new\n"))
                .hasMessageContaining("<!-- generated: y -->");
    }

    @Test
    void documentsAreUpToDate() throws IOException {
        ResultsPage page = new ResultsPage(Result.readAll(PROJECT.resolve("bench/results")));
        assertUpToDate(PROJECT.resolve("docs/results.md"), "results", page.details());
        assertUpToDate(PROJECT.resolve("docs/results.md"), "glance", page.summary());
    }

    @Test
    void tablesOfOtherExperimentsAreUpToDate() throws IOException {
        Path directory = PROJECT.resolve("bench/results");
        Path document = PROJECT.resolve("docs/results.md");
        assertUpToDate(document, "latency", new LatencyPage(LatencyPage.read(directory)).details());
        assertUpToDate(document, "sweep", new SweepPage(SweepPage.read(directory)).details());
        assertUpToDate(
                document,
                "checkpoints",
                new CheckpointsPage(CheckpointsPage.read(directory)).details());
        assertUpToDate(
                document, "recovery", new RecoveryPage(RecoveryPage.read(directory)).details());
        assertUpToDate(
                PROJECT.resolve("docs/desync.md"),
                "desync",
                new DesyncPage(DesyncPage.read(directory)).details());
        assertUpToDate(
                PROJECT.resolve("docs/spark-results.md"),
                "spark",
                new SparkPage(SparkPage.read(directory)).details());
        assertUpToDate(document, "spark", new SparkPage(SparkPage.read(directory)).summary());
        assertUpToDate(
                PROJECT.resolve("docs/blob-results.md"),
                "blob",
                new BlobPage(BlobPage.read(directory)).details());
    }

    @Test
    void aimsAreUpToDate() throws IOException {
        if (WRITE) {
            CodeHistoryWriter.write(PROJECT);
        }
        AimsPage page = AimsPage.of(PROJECT);
        assertUpToDate(PROJECT.resolve("docs/results.md"), "aims", page.table());
        assertUpToDate(PROJECT.resolve("README.md"), "measured", page.measured());
    }

    @Test
    void aimsAreMetByFiguresOnly() throws IOException {
        recordSome();
        Map<String, Aim> aims = new HashMap<>();
        new ResultsPage(results).aims().forEach(aim -> aims.put(aim.measure(), aim));
        Aim inMemory = aims.get("events/s, state in memory, to hashmap");
        assertThat(inMemory.verdict()).isEqualTo("met");
        assertThat(inMemory.measured()).startsWith("0.95x (`q7`)");
        Aim limited =
                aims.get(
                        "events/s, state of 4x the memory, under a cgroup limit, to"
                                + " rocksdb-heap-timers");
        assertThat(limited.verdict()).isEqualTo("**not met**");
        Aim pageCached =
                aims.get("events/s, state of 4x the memory, page-cached, to rocksdb-heap-timers");
        assertThat(pageCached.verdict()).isEqualTo("not measured");
        assertThat(pageCached.measured()).isEqualTo("–");
    }

    @Test
    void ofManyValuesTheWorstAndTheBestAreShown() {
        List<Aim.Value> values =
                List.of(value("a", 1), value("b", 4), value("c", 2), value("d", 3));
        Aim less = new Aim("time", "at most 2", false, 2, " ms", values, "./afterbay");
        assertThat(less.measured()).isEqualTo("worst 4.00 ms (b), best 1.00 ms (a)");
        assertThat(less.verdict()).isEqualTo("**met by 2 of 4**");
        assertThat(less.pairs()).isEqualTo("one pair, indicative, to 4");
        assertThat(less.isMissed()).isTrue();
        assertThat(less.item()).isEqualTo("- Aim: at most 2. Met by 2 of 4.\n");
        Aim more = new Aim("rate", "at least 1", true, 1, "x", values, "./afterbay");
        assertThat(more.measured()).isEqualTo("worst 1.00x (a), best 4.00x (b)");
        assertThat(more.verdict()).isEqualTo("met by 4 of 4");
        assertThat(more.isMissed()).isFalse();
    }

    /** It rests on as many pairs as it is large. */
    private static Aim.Value value(String setting, double value) {
        return new Aim.Value(setting, value, new Evidence((long) Math.ceil(value), "7d5850f"));
    }

    /** One row for each part. */
    @Test
    void theFirstPageHasTheMostImportantAimOfEachPart() throws IOException {
        String measured = AimsPage.of(PROJECT).measured();
        List<String> parts =
                measured.lines()
                        .filter(line -> line.startsWith("| "))
                        .skip(1)
                        .map(line -> line.split(" \\| ")[0].substring(2))
                        .toList();
        assertThat(parts)
                .containsExactly(Stream.of(Part.values()).map(Part::title).toArray(String[]::new));
    }

    /** Who opens it for the first time reads it to its end. */
    @Test
    void theFirstPageIsShort() throws IOException {
        assertThat(Files.readAllLines(PROJECT.resolve("README.md"))).hasSizeLessThanOrEqualTo(80);
    }

    /** Hits alone would be no claim that holds. */
    @Test
    void whatIsMissedIsNamed() throws IOException {
        AimsPage page = AimsPage.of(PROJECT);
        List<String> missed =
                rows(page.table())
                        .filter(row -> row.get(3).startsWith("**"))
                        .map(row -> row.get(0))
                        .toList();
        assertThat(missed).isNotEmpty();
        String sentence = page.measured().lines().reduce((first, second) -> second).orElseThrow();
        assertThat(missed).allSatisfy(measure -> assertThat(sentence).contains(measure));
        assertThat(
                        page.table()
                                .lines()
                                .filter(
                                        line ->
                                                line.startsWith(
                                                        "| events/s, state in memory, to hashmap")))
                .hasSize(1);
    }

    /** In every table that is generated, in the README too. */
    @Test
    void eachRowHasItsSettingPairsAndRevision() throws IOException {
        List<Path> documents =
                List.of(
                        PROJECT.resolve("README.md"),
                        PROJECT.resolve("docs/results.md"),
                        PROJECT.resolve("docs/desync.md"),
                        PROJECT.resolve("docs/spark-results.md"),
                        PROJECT.resolve("docs/blob-results.md"));
        for (Path document : documents) {
            List<List<String>> rows = generatedRows(Files.readString(document));
            assertThat(rows).as(document.toString()).isNotEmpty();
            assertThat(rows).as(document.toString()).allMatch(ResultsPageTest::hasEvidence);
        }
        assertThat(hasEvidence(List.of("`q7`", "0.95", "2 pairs", "2869e8464af4"))).isTrue();
        assertThat(hasEvidence(List.of("`q7`", "0.95", "2 pairs", "–"))).isFalse();
        assertThat(hasEvidence(List.of("`q7`", "0.95", "2869e8464af4"))).isFalse();
        assertThat(hasEvidence(List.of("", "0.95", "2 pairs", "2869e8464af4"))).isFalse();
    }

    private static boolean hasEvidence(List<String> row) {
        String text = String.join(" | ", row);
        return !row.get(0).isBlank()
                && (text.contains("not measured")
                        || PAIRS.matcher(text).find() && REVISION.matcher(text).find());
    }

    private static List<List<String>> generatedRows(String document) {
        return Pattern.compile("<!-- generated: .*? -->\n(.*?)<!-- end", Pattern.DOTALL)
                .matcher(document)
                .results()
                .flatMap(block -> rows(block.group(1)))
                .toList();
    }

    /** The fields of all rows of tables but headers. */
    private static Stream<List<String>> rows(String text) {
        List<String> lines = text.lines().toList();
        return IntStream.range(1, lines.size())
                .filter(i -> lines.get(i).startsWith("| "))
                .filter(i -> lines.get(i - 1).startsWith("|"))
                .mapToObj(i -> List.of(lines.get(i).substring(2).split(" \\| ?")));
    }

    @Test
    void figuresOfCodeThatHasChangedAreStale() {
        CodeHistory history =
                new CodeHistory(
                        Map.of("new", Map.of(Part.SPARK, "b"), "old", Map.of(Part.SPARK, "a")),
                        Map.of(Part.SPARK, "b"));
        List<Aim.Value> values =
                Stream.of("new", "old", "unknown")
                        .map(of -> new Aim.Value("a", 1, new Evidence(3, of)))
                        .toList();
        Aim aim = new Aim("rate", "at least 1", true, 1, "x", values, "./afterbay").asHeadline();
        AimsPage page = AimsPage.of(Part.SPARK, List.of(aim), history);
        String revisions = "| 3 pairs | new; stale: old, unknown |";
        assertThat(page.measured()).contains(revisions);
        assertThat(page.table()).contains(revisions);
        assertThat(history.isStale(Part.BLOB, "new")).isTrue();
    }

    @Test
    void codeIsToldFromOtherCode() {
        SortedMap<String, String> files = new TreeMap<>(Map.of("a", "1", "b", "2"));
        assertThat(CodeHistory.fingerprint(files))
                .isEqualTo(CodeHistory.fingerprint(new TreeMap<>(files)))
                .isNotEqualTo(CodeHistory.fingerprint(new TreeMap<>(Map.of("a", "1", "b", "3"))))
                .isNotEqualTo(CodeHistory.fingerprint(new TreeMap<>(Map.of("a", "1", "c", "2"))));
    }

    @Test
    void whatShouldStayTheSameHasALowerBoundToo() {
        List<Aim.Value> values =
                List.of(value("a", 0.25), value("b", 0.9), value("c", 1.1), value("d", 2));
        Aim same =
                new Aim("time", "the same", false, 1.2, "x", values, "./afterbay").andAtLeast(0.8);
        assertThat(same.measured()).isEqualTo("worst 0.25x (a), best 1.10x (c)");
        assertThat(same.item()).isEqualTo("- Aim: the same. Met by 2 of 4.\n");
    }

    /** One count, whichever table it is in. */
    @Test
    void aFailedBaselineIsNamedAndNotCounted() {
        recordSome();
        Aim aim = new ResultsPage(results).aims().get(0);
        assertThat(aim.verdict()).isEqualTo("met");
        assertThat(aim.measured())
                .isEqualTo(
                        "0.95x (`q7`); nothing to compare with in 1 more:"
                                + " `examples/nexmark-sql/q12.sql` (afterbay failed)");
    }

    private static void assertUpToDate(Path document, String block, String generated)
            throws IOException {
        String expected = new GeneratedBlock(block).replace(Files.readString(document), generated);
        if (WRITE) {
            Files.writeString(document, expected);
        }
        assertThat(Files.readString(document))
                .as(
                        "%s: run the test with -Dafterbay.docs.write=true to write it anew",
                        document.getFileName())
                .isEqualTo(expected);
    }
}
