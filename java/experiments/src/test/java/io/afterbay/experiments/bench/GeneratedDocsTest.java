package io.afterbay.experiments.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.AimsPage;
import io.afterbay.bench.GeneratedBlock;
import io.afterbay.bench.Part;
import io.afterbay.bench.Result;
import io.afterbay.bench.ResultsPage;
import io.afterbay.experiments.blob.BlobPage;
import io.afterbay.experiments.blobcluster.ClusterPage;
import io.afterbay.experiments.checkpoints.CheckpointsPage;
import io.afterbay.experiments.desync.DesyncPage;
import io.afterbay.experiments.edge.EdgePage;
import io.afterbay.experiments.net.NetPage;
import io.afterbay.experiments.queries.LatencyPage;
import io.afterbay.experiments.queries.SweepPage;
import io.afterbay.experiments.recovery.RecoveryPage;
import io.afterbay.experiments.replay.ReplayPage;
import io.afterbay.experiments.spark.SparkPage;
import io.afterbay.experiments.storm.StormGuide;
import io.afterbay.experiments.storm.StormPage;
import io.afterbay.experiments.storm.StormPaper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The documents say what is recorded. */
class GeneratedDocsTest {
    /** Rewrites the documents instead of comparing: -Dafterbay.docs.write=true. */
    private static final boolean WRITE = Boolean.getBoolean("afterbay.docs.write");

    private static final Path PROJECT = Path.of("../..");

    private static final Pattern PAIRS = Pattern.compile("one pair, indicative|\\b\\d+ pairs");
    private static final Pattern REVISION = Pattern.compile("\\b[0-9a-f]{12}\\b");

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
        assertUpToDate(document, "replay", new ReplayPage(ReplayPage.read(directory)).details());
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
                PROJECT.resolve("docs/storm-results.md"),
                "storm",
                new StormPage(StormPage.read(directory)).details());
        assertUpToDate(
                PROJECT.resolve("docs/storm-results.md"),
                "storm-paper",
                new StormPaper(StormPage.read(directory)).table());
        assertUpToDate(
                PROJECT.resolve("docs/stragglers.md"),
                "stragglers",
                new StormGuide(StormPage.read(directory)).table());
        assertUpToDate(
                PROJECT.resolve("docs/blob-results.md"),
                "blob",
                new BlobPage(BlobPage.read(directory)).details());
        assertUpToDate(
                PROJECT.resolve("docs/blob-results.md"),
                "blob-cluster",
                new ClusterPage(ClusterPage.read(directory)).details());
        assertUpToDate(
                PROJECT.resolve("docs/net-results.md"),
                "net",
                new NetPage(NetPage.read(directory)).details());
        assertUpToDate(
                PROJECT.resolve("docs/edge-results.md"),
                "edge",
                new EdgePage(EdgePage.read(directory)).details());
    }

    @Test
    void aimsAreUpToDate() throws IOException {
        if (WRITE) {
            CodeHistoryWriter.write(PROJECT);
        }
        AimsPage page = AllAims.of(PROJECT);
        assertUpToDate(PROJECT.resolve("docs/results.md"), "aims", page.table());
        assertUpToDate(PROJECT.resolve("README.md"), "measured", page.measured());
    }

    /** One row for each part. */
    @Test
    void theFirstPageHasTheMostImportantAimOfEachPart() throws IOException {
        String measured = AllAims.of(PROJECT).measured();
        List<String> parts =
                measured.lines()
                        .filter(line -> line.startsWith("| "))
                        .skip(1)
                        .map(line -> line.split(" \\| ")[0].substring(2))
                        .toList();
        assertThat(parts)
                .containsExactly(Stream.of(Part.values()).map(Part::title).toArray(String[]::new));
    }

    /** What is moved or renamed would never make figures stale again. */
    @Test
    void codeOfPartsIsThere() {
        for (Part part : Part.values()) {
            assertThat(part.code())
                    .as(part.title())
                    .isNotEmpty()
                    .doesNotHaveDuplicates()
                    .allSatisfy(
                            one ->
                                    assertThat(PROJECT.resolve(one))
                                            .isDirectoryRecursivelyContaining("glob:**.{java,rs}"));
        }
    }

    /** Crates are added now and then. */
    @Test
    void allCratesOfTheEdgeArePartOfIt() throws IOException {
        try (Stream<Path> crates = Files.list(PROJECT.resolve("rust"))) {
            assertThat(Part.EDGE.code())
                    .containsAll(
                            crates.map(crate -> crate.getFileName().toString())
                                    .filter(
                                            crate ->
                                                    crate.equals("edge")
                                                            || crate.startsWith("edge-"))
                                    .map("rust/%s/src"::formatted)
                                    .toList());
        }
    }

    /** Who opens it for the first time reads it to its end. */
    @Test
    void theFirstPageIsShort() throws IOException {
        assertThat(Files.readAllLines(PROJECT.resolve("README.md"))).hasSizeLessThanOrEqualTo(92);
    }

    /** Hits alone would be no claim that holds. */
    @Test
    void whatIsMissedIsCounted() throws IOException {
        AimsPage page = AllAims.of(PROJECT);
        long missed = rows(page.table()).filter(row -> row.get(3).startsWith("**")).count();
        assertThat(missed).isPositive();
        assertThat(page.measured()).contains(" " + missed + " are missed in at least one setting");
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
                        PROJECT.resolve("docs/storm-results.md"),
                        PROJECT.resolve("docs/stragglers.md"),
                        PROJECT.resolve("docs/blob-results.md"),
                        PROJECT.resolve("docs/net-results.md"));
        for (Path document : documents) {
            List<List<String>> rows = generatedRows(Files.readString(document));
            assertThat(rows).as(document.toString()).isNotEmpty();
            assertThat(rows).as(document.toString()).allMatch(GeneratedDocsTest::hasEvidence);
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
