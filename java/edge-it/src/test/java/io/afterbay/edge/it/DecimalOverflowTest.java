package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.edge.it.Comparison.Case;
import io.afterbay.edge.it.Reports.Report;
import io.afterbay.edge.run.PartialsMerge.Order;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sums of more than 38 digits. In Flink they are null, and the next value begins them anew, but in
 * an average; so it can be seen in which order, and in which parts, they were added up.
 */
class DecimalOverflowTest {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");
    private static final LocalDateTime START = LocalDateTime.of(2026, 1, 1, 0, 0);

    /** Three of the large ones are too large, two of the larger ones are. */
    private static final List<String> NUMBERS =
            List.of("4" + "0".repeat(37), "9".repeat(38), "-" + "9".repeat(38), "7");

    private static final int SECONDS = 400;
    private static final int ROOMS = 3;
    private static final int SLICE_SECONDS = 5;

    private static final String TUMBLE =
            "TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '20' SECOND)";
    private static final String HOP =
            "HOP(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)";
    private static final String CUMULATE =
            "CUMULATE(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)";

    private static final String SUM =
            """
            SELECT room, window_end, SUM(huge) AS s FROM TABLE(%s)
            GROUP BY room, window_start, window_end
            """;
    private static final String SUM_AND_AVERAGE = SUM.replace(" AS s", " AS s, AVG(huge) AS a");

    @TempDir private static Path directory;
    private static Comparison comparison;
    private static final List<Integer> PARTIAL = new ArrayList<>();
    private static final List<Integer> FINAL = new ArrayList<>();

    @BeforeAll
    static void run() throws Exception {
        comparison = new Comparison(directory);
        for (String window : List.of(TUMBLE, HOP, CUMULATE)) {
            String query = SUM_AND_AVERAGE.formatted(window);
            PARTIAL.add(
                    comparison.add(new Case(query, reports(1), List.of(1), Order.byWatermark())));
        }
        // With one row in each slice, it is the same whether Flink adds up slices in parts.
        for (String window : List.of(HOP, CUMULATE)) {
            String query = SUM.formatted(window);
            FINAL.add(
                    comparison.add(
                            new Case(query, reports(SLICE_SECONDS), List.of(1), Order.byWatermark())
                                    .withLocal("room")));
        }
        comparison.run();
    }

    /** Each room has one in so many seconds. */
    private static Reports reports(int seconds) {
        Random random = new Random(seconds);
        List<Report> rows = new ArrayList<>();
        for (int second = 0; second < SECONDS; second += seconds) {
            for (int room = 0; room < ROOMS; room++) {
                rows.add(
                        new Report(
                                0,
                                "{\"room\": %d, \"storey\": 0, \"huge\": %s, \"ts\": \"%s\"}"
                                        .formatted(
                                                room,
                                                NUMBERS.get(random.nextInt(NUMBERS.size())),
                                                TIME.format(START.plusSeconds(second)))));
            }
        }
        return new Reports(rows);
    }

    private static void assertNullsAreAmong(List<Integer> cases) {
        for (int number : cases) {
            List<String> rows = comparison.wholeRows(number);
            assertThat(rows).anyMatch(row -> row.matches("[^,]*,[^,]*,(,.*)?"));
            assertThat(rows).anyMatch(row -> row.matches("[^,]*,[^,]*,-?[0-9]+(,.*)?"));
        }
    }

    @Test
    void partsAreNullWhereThoseOfFlinkAre() {
        comparison.assertEqual(PARTIAL, 3, "partial", 50);
        assertNullsAreAmong(PARTIAL);
    }

    @Test
    void resultsAreNullWhereThoseOfFlinkAre() {
        comparison.assertEqual(FINAL, 2, "final", 50);
        assertNullsAreAmong(FINAL);
    }
}
