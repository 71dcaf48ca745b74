package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.edge.it.Comparison.Case;
import io.afterbay.edge.it.Reports.Disorder;
import io.afterbay.edge.run.Control;
import io.afterbay.edge.run.PartialsMerge.Order;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rows of a job in halves are those of the whole job, wherever its reports are made. */
class HalvesTest {
    static final String SELECT =
            """
            SELECT room, window_start, window_end, COUNT(*) AS c, SUM(n) AS s, MAX(big) AS m,
              MIN(name) AS f, AVG(x) AS a, SUM(price) AS p
            FROM TABLE(%s)
            WHERE storey < 2
            GROUP BY room, window_start, window_end
            """;

    static final List<String> QUERIES =
            List.of(
                    SELECT.formatted("TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND)"),
                    SELECT.formatted(
                            "HOP(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)"),
                    SELECT.formatted(
                            "CUMULATE(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)"));

    private static final Reports LATE_BY_ANYTHING = Reports.random(1, 1_000, 1, Disorder.ANY);
    private static final Reports HOPELESS = Reports.random(2, 1_000, 4, Disorder.HOPELESS);
    private static final Reports IN_TIME = Reports.random(3, 1_000, 4, Disorder.WITHIN_DELAY);

    @TempDir private static Path directory;
    private static Comparison comparison;

    // By kind of window.
    private static final List<Integer> ONE_SITE = new ArrayList<>();
    private static final List<Integer> LATE = new ArrayList<>();
    private static final List<Integer> PARTITIONS = new ArrayList<>();
    private static final List<Integer> ANY_ORDER = new ArrayList<>();
    private static final List<Integer> IDLE = new ArrayList<>();

    private static int guessed;
    private static int dropped;

    @BeforeAll
    static void run() throws Exception {
        comparison = new Comparison(directory);
        for (String query : QUERIES) {
            Case oneSite = new Case(query, LATE_BY_ANYTHING, List.of(1), Order.byWatermark());
            ONE_SITE.add(comparison.add(oneSite));
            Case together = new Case(query, HOPELESS, List.of(4), Order.byWatermark());
            LATE.add(comparison.add(together));
            PARTITIONS.add(
                    comparison.add(new Case(query, IN_TIME, List.of(3, 1), Order.byWatermark())));
            ANY_ORDER.add(comparison.add(new Case(query, IN_TIME, List.of(4), random(7))));
            IDLE.add(comparison.add(new Case(query, IN_TIME, List.of(5), lastOneIsSilent())));
        }
        Case halves = new Case(QUERIES.get(0), IN_TIME, List.of(4), Order.byWatermark());
        guessed = comparison.add(halves.with(Control.GUESSED_WATERMARKS::change));
        dropped = comparison.add(halves.with(HalvesTest::dropOneRow));
        comparison.run();
    }

    static Order random(long seed) {
        Random random = new Random(seed);
        return watermarks -> random.nextInt(watermarks.size());
    }

    /** Sends nothing, not even its end, until all others have ended. */
    static Order lastOneIsSilent() {
        return watermarks ->
                watermarks.size() == 1
                        ? 0
                        : Order.byWatermark().next(watermarks.subList(0, watermarks.size() - 1));
    }

    private static void dropOneRow(Path sent) throws IOException {
        List<String> lines = new ArrayList<>(Files.readAllLines(sent));
        for (int i = lines.size() / 2; i < lines.size(); i++) {
            if (lines.get(i).startsWith("{\"row\"")) {
                lines.remove(i);
                break;
            }
        }
        Files.write(sent, lines);
    }

    private static void assertEqual(List<Integer> cases) {
        comparison.assertEqual(cases, QUERIES.size(), "partial", 100);
    }

    @Test
    void reportsOfOneSiteMayBeLateByAnything() {
        assertEqual(ONE_SITE);
    }

    @Test
    void whatIsLateAtFourSitesIsLateInTheWholeJob() {
        assertEqual(LATE);
    }

    @Test
    void severalPartitionsOfOneOrMoreSites() {
        assertEqual(PARTITIONS);
    }

    @Test
    void sitesMayBeAheadOfEachOtherByAnything() {
        assertEqual(ANY_ORDER);
    }

    @Test
    void aSiteMayBeSilent() {
        assertEqual(IDLE);
    }

    /** Controls: what these lose or keep must show, or the tests above show nothing. */
    @Test
    void watermarksThatAreGuessedFromSlicesLoseRows() {
        assertThat(comparison.difference(guessed)).isNotNull();
    }

    @Test
    void oneRowThatIsDroppedShows() {
        assertThat(comparison.difference(dropped)).isNotNull();
    }
}
