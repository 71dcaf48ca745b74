package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublishedRowsTest {
    private static final String ONE = "{\"room\":1,\"x\":2.50,\"name\":null}";
    private static final String TWO = "{\"room\":2,\"x\":12345678901234567890.25,\"name\":\"ä\"}";

    @TempDir Path directory;
    private PublishedRows rows;

    @BeforeEach
    void write() throws Exception {
        String ending = ",\"edge_site\":\"a\",\"edge_row\":%s,\"edge_watermark\":7}";
        Path first = directory.resolve("00000.ndjson");
        Files.write(
                first,
                List.of(
                        ONE.replace("}", ending.formatted(true)),
                        "{\"room\":null,\"x\":null,\"name\":null" + ending.formatted(false)));
        Path second = directory.resolve("00001.ndjson");
        String two = TWO.replace("}", ending.formatted(true));
        Files.write(second, List.of(two, two));
        rows = PublishedRows.beside(List.of(first, second, directory.resolve("00002.ndjson")));
    }

    private LiveOutcome.Published compare(Map<String, Integer> messages) {
        return rows.compare("t", messages, "");
    }

    @Test
    void theyAreThoseOfTheGateway() {
        assertThat(compare(Map.of(ONE, 1, TWO, 2)))
                .isEqualTo(new LiveOutcome.Published("t", 3, 0, null));
        assertThat(rows.areAllIn(Map.of(ONE, 1, TWO, 2))).isTrue();
        String spaced = ONE.replace(":", ": ");
        assertThat(compare(Map.of(ONE, 1, spaced, 2, TWO, 3)))
                .isEqualTo(new LiveOutcome.Published("t", 3, 3, null));
    }

    @Test
    void oneThatIsMissingShows() {
        LiveOutcome.Published published = compare(Map.of(ONE, 2, TWO, 1));
        assertThat(rows.areAllIn(Map.of(ONE, 2, TWO, 1))).isFalse();
        assertThat(published.rows()).isEqualTo(2);
        assertThat(published.difference())
                .isEqualTo("1 are at the gateway, and not on t, such as " + TWO);
        assertThat(rows.compare("t", Map.of(), "agents say {droppedRows=3}").difference())
                .startsWith("3 are at the gateway, and not on t, such as {")
                .endsWith("; agents say {droppedRows=3}");
    }

    @Test
    void oneThatIsOfNobodyShows() {
        String other = ONE.replace("2.50", "2.51");
        assertThat(compare(Map.of(ONE, 1, TWO, 2, other, 1, "no row", 1)).difference())
                .startsWith("2 are on t, and not at the gateway, such as ");
    }
}
