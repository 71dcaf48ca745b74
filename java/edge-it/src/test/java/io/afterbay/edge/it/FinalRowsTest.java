package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.edge.it.Comparison.Case;
import io.afterbay.edge.it.Reports.Disorder;
import io.afterbay.edge.run.PartialsMerge.Order;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Windows whose key is at one site are final there: rows are those of the whole job. */
class FinalRowsTest {
    private static final Reports LATE_BY_ANYTHING =
            Reports.random(11, 1_000, 1, Disorder.ANY).withRooms(true);
    private static final Reports HOPELESS =
            Reports.random(12, 1_000, 4, Disorder.HOPELESS).withRooms(true);
    private static final Reports IN_TIME =
            Reports.random(13, 1_000, 4, Disorder.WITHIN_DELAY).withRooms(true);

    /** Rows of windows, with the times of events that windows of them need. */
    private static final String VIEW =
            """
            CREATE VIEW rooms AS
            SELECT room, window_time AS ts, COUNT(*) AS c, MAX(big) AS m
            FROM TABLE(%s)
            WHERE storey < 2
            GROUP BY room, window_start, window_end, window_time;
            """;

    private static final String OF_ALL_ROOMS =
            """
            SELECT window_start, window_end, SUM(c) AS c, MAX(m) AS m, COUNT(*) AS n
            FROM TABLE(TUMBLE(TABLE rooms, DESCRIPTOR(ts), INTERVAL '20' SECOND))
            GROUP BY window_start, window_end
            """;

    private static final String WITHOUT_DOUBLES =
            """
            SELECT room, window_start, window_end, COUNT(*) AS c, SUM(n) AS s, MIN(ts) AS f
            FROM TABLE(HOP(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))
            GROUP BY room, window_start, window_end
            """;

    /** A WHERE would be behind the sessions, and is not what runs at a site. */
    private static final String SESSIONS =
            HalvesTest.SELECT
                    .replace("WHERE storey < 2\n", "")
                    .formatted(
                            "SESSION(TABLE reports PARTITION BY room, DESCRIPTOR(ts), INTERVAL '1' SECOND)");

    private static final List<String> QUERIES =
            Stream.concat(HalvesTest.QUERIES.stream(), Stream.of(SESSIONS)).toList();

    private static final List<String> WINDOWS =
            List.of(
                    "TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND)",
                    "HOP(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
                    "CUMULATE(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)");

    @TempDir private static Path directory;
    private static Comparison comparison;

    // By kind of window.
    private static final List<Integer> ONE_SITE = new ArrayList<>();
    private static final List<Integer> LATE = new ArrayList<>();
    private static final List<Integer> WINDOWS_ABOVE = new ArrayList<>();

    private static int notLocal;
    private static int twoSites;
    private static int firstAlone;
    private static int secondAlone;

    @BeforeAll
    static void run() throws Exception {
        comparison = new Comparison(directory);
        for (String query : QUERIES) {
            add(ONE_SITE, new Case(query, LATE_BY_ANYTHING, List.of(1), Order.byWatermark()));
            add(LATE, new Case(query, HOPELESS, List.of(4), Order.byWatermark()));
        }
        above(WINDOWS.get(0), HOPELESS, List.of(2, 2), Order.byWatermark());
        above(WINDOWS.get(1), IN_TIME, List.of(4), HalvesTest.random(7));
        above(WINDOWS.get(2), IN_TIME, List.of(5), HalvesTest.lastOneIsSilent());
        Reports everywhere = Reports.random(14, 1_000, 4, Disorder.WITHIN_DELAY).withRooms(false);
        Case declared =
                new Case(HalvesTest.QUERIES.get(0), everywhere, List.of(4), Order.byWatermark());
        notLocal = comparison.add(declared.withLocal("room"));
        Reports late = Reports.random(15, 1_000, 2, Disorder.ANY).withRooms(true);
        Case ofTwo = new Case(WITHOUT_DOUBLES, late, List.of(2), HalvesTest.random(8));
        twoSites = comparison.add(ofTwo.withLocal("room"));
        firstAlone = comparison.add(alone(late, 0));
        secondAlone = comparison.add(alone(late, 1));
        comparison.run();
    }

    private static Case alone(Reports reports, int site) {
        return new Case(WITHOUT_DOUBLES, reports.of(site), List.of(1), Order.byWatermark());
    }

    private static void above(
            String window, Reports reports, List<Integer> partitions, Order order) {
        Case above = new Case(OF_ALL_ROOMS, reports, partitions, order);
        add(WINDOWS_ABOVE, above.behind(VIEW.formatted(window)));
    }

    private static void add(List<Integer> cases, Case one) {
        cases.add(comparison.add(one.withLocal("reports.room")));
    }

    /** Of one site, late by anything; of four, late wherever one looks. */
    @Test
    void rowsAreThoseOfTheWholeJob() {
        comparison.assertEqual(ONE_SITE, QUERIES.size(), "final", 100);
        comparison.assertEqual(LATE, QUERIES.size(), "final", 100);
    }

    /** Whatever others see: rows are those of a job that reads this site alone. */
    @Test
    void lateIsWhatIsLateAtTheSite() {
        assertThat(comparison.sent(twoSites)).isEqualTo("final");
        List<String> alone = new ArrayList<>(comparison.wholeRows(firstAlone));
        alone.addAll(comparison.wholeRows(secondAlone));
        Collections.sort(alone);
        assertThat(alone).hasSizeGreaterThan(100);
        assertThat(comparison.rowsInHalves(twoSites)).isEqualTo(alone);
    }

    /**
     * Their rows come with the watermarks of their sites, in whatever order; one site is silent.
     */
    @Test
    void windowsOfFinalRowsAreOfAllSites() {
        comparison.assertEqual(WINDOWS_ABOVE, WINDOWS.size(), "final", 5);
    }

    /**
     * Control: a declaration is believed, and a room at four sites has four rows for each window.
     */
    @Test
    void aColumnThatIsNotLocalGivesOtherRows() {
        assertThat(comparison.sent(notLocal)).isEqualTo("final");
        assertThat(comparison.difference(notLocal)).isNotNull();
    }
}
