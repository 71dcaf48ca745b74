package io.afterbay.edge.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.plan.PlanTable.PlanColumn;
import io.afterbay.edge.run.PartialsMerge.Order;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartialsMergeTest {
    private static final PlanTable TABLE =
            new PlanTable(
                    "`edge_partials`",
                    "edge_partials",
                    List.of(
                            new PlanColumn("k", "INT"),
                            new PlanColumn("x", "DOUBLE"),
                            new PlanColumn("edge_site", "VARCHAR(2147483647)"),
                            new PlanColumn("edge_row", "BOOLEAN"),
                            new PlanColumn("edge_watermark", "BIGINT")),
                    Map.of());

    @TempDir Path directory;

    private List<String> merge(Order order, List<List<String>> sites) throws IOException {
        Map<String, Path> streams = new LinkedHashMap<>();
        for (List<String> lines : sites) {
            String name = "s" + streams.size();
            streams.put(name, Files.write(directory.resolve(name), lines));
        }
        Path partition = directory.resolve("partition");
        new PartialsMerge(TABLE, order).write(streams, partition);
        return Files.readAllLines(partition);
    }

    private static String row(String values, String site, long watermark) {
        String[] parts = values.split(",");
        return "{\"k\":%s,\"x\":%s,\"edge_site\":\"%s\",\"edge_row\":true,\"edge_watermark\":%d}"
                .formatted(parts[0], parts[1], site, watermark);
    }

    private static String watermark(String site, long watermark) {
        return "{\"edge_site\":\"%s\",\"edge_row\":false,\"edge_watermark\":%d}"
                .formatted(site, watermark);
    }

    /** With the watermark that made a flush, its second row would be late. */
    @Test
    void rowsCarryTheWatermarkBeforeThem() throws Exception {
        assertThat(
                        merge(
                                Order.byWatermark(),
                                List.of(
                                        List.of(
                                                "{\"row\":[1,-0.0]}",
                                                "{\"row\":[2,\"NaN\"]}",
                                                "{\"watermark\":10}",
                                                "{\"row\":[3,null]}",
                                                "{\"watermark\":9223372036854775807}"))))
                .containsExactly(
                        row("1,-0.0", "s0", PartialsMerge.WATERMARK_MIN),
                        row("2,\"NaN\"", "s0", PartialsMerge.WATERMARK_MIN),
                        watermark("s0", 10),
                        row("3,null", "s0", 10),
                        watermark("s0", PartialsMerge.WATERMARK_MAX));
    }

    @Test
    void theLeastWatermarkOfAllSitesCounts() throws Exception {
        assertThat(
                        merge(
                                Order.byWatermark(),
                                List.of(
                                        List.of(
                                                "{\"watermark\":10}",
                                                "{\"row\":[1,0.5]}",
                                                "{\"watermark\":30}"),
                                        List.of("{\"watermark\":20}", "{\"row\":[2,0.5]}"))))
                .containsExactly(
                        watermark("s1", 10),
                        row("1,0.5", "s0", 10),
                        watermark("s0", 20),
                        row("2,0.5", "s1", 20),
                        watermark("s1", 30),
                        watermark("s0", PartialsMerge.WATERMARK_MAX));
    }

    /** Until it has ended, and whatever the others send. */
    @Test
    void aSilentSiteHoldsTheOthersUp() throws Exception {
        assertThat(
                        merge(
                                watermarks -> 0,
                                List.of(
                                        List.of("{\"watermark\":10}", "{\"row\":[1,0.5]}"),
                                        List.of())))
                .containsExactly(
                        row("1,0.5", "s0", PartialsMerge.WATERMARK_MIN),
                        watermark("s1", PartialsMerge.WATERMARK_MAX));
    }

    @Test
    void whatIsNeitherIsNamed() {
        assertThatThrownBy(
                        () ->
                                merge(
                                        Order.byWatermark(),
                                        List.of(List.of("{\"watermark\":1}", "{}"))))
                .hasMessageContaining("s0, line 2: neither a row nor a watermark");
        assertThatThrownBy(() -> merge(Order.byWatermark(), List.of(List.of("{\"row\":[1]}"))))
                .hasMessageContaining("site s0 sends rows of 1 columns");
    }
}
