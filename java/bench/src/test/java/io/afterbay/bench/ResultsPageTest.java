package io.afterbay.bench;

import static io.afterbay.bench.Figure.CPU_US_PER_EVENT;
import static io.afterbay.bench.Figure.EVENTS_PER_S;
import static io.afterbay.bench.RunBuilder.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.bench.Result.Circumstances;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ResultsPageTest {
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
        AimsPage page =
                AimsPage.of(List.of(new AimsPage.PartAims(Part.SPARK, List.of(aim))), history);
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
}
