package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.edge.it.Reports.Disorder;
import io.afterbay.edge.run.PartialsMerge.Order;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rows of a job in halves are those of the whole job. */
class HalvesTest {
    private static final String SELECT =
            """
            SELECT room, window_start, window_end, COUNT(*) AS n, SUM(n) AS s, MAX(big) AS m, AVG(x) AS a
            FROM TABLE(%s)
            WHERE storey < 2
            GROUP BY room, window_start, window_end
            """;

    private static final List<String> WINDOWS =
            List.of(
                    "TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
                    "HOP(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)",
                    "CUMULATE(TABLE reports, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)");

    private static final List<String> QUERIES = WINDOWS.stream().map(SELECT::formatted).toList();

    @TempDir Path directory;

    @Test
    void oneSiteWithReportsThatAreLateByAnything() throws Exception {
        Comparison comparison =
                new Comparison(directory, Reports.random(1, 2_000, 1, Disorder.ANY));
        QUERIES.forEach(query -> comparison.add(query, List.of(1)));
        assertThat(comparison.run(Order.byWatermark())).isEmpty();
        assertThat(comparison.rows()).isGreaterThan(500);
    }
}
