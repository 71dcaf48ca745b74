package io.afterbay.edge.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.plan.PlanTable.PlanColumn;
import io.afterbay.edge.program.SiteItem;
import io.afterbay.edge.program.SiteItem.SiteRow;
import io.afterbay.edge.program.SiteItem.SiteWatermark;
import io.afterbay.edge.program.SiteStream;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Writes what several sites send into one partition of the table between the halves.
 *
 * <pre>
 *   site a:  row, watermark 10, row, watermark 20 ─┐
 *                                                  ├─ rows, each with the watermark before it:
 *   site b:  row, row, watermark 15, row ──────────┘  the minimum over a and b
 * </pre>
 *
 * A partition has one order, so it has one watermark: what holds for all of its sites. When it
 * moves on and no row shows it, a line without a row does. A site that has not sent a watermark yet
 * holds the others up, and one whose input has ended does not.
 */
public final class PartialsMerge {
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * What {@code TO_TIMESTAMP_LTZ} takes: from the year 1 to the year 9999; others become null.
     */
    static final long WATERMARK_MIN = -62_135_596_800_000L;

    static final long WATERMARK_MAX = 253_402_300_799_999L;

    /** Which site's next item comes next. */
    @FunctionalInterface
    public interface Order {
        /**
         * @param watermarks of the sites that have not ended, never none
         * @return a place in the list
         */
        int next(List<Long> watermarks);

        /** The site that is behind: as if all had sent at the time of their events. */
        static Order byWatermark() {
            return watermarks -> {
                int first = 0;
                for (int i = 1; i < watermarks.size(); i++) {
                    if (watermarks.get(i) < watermarks.get(first)) {
                        first = i;
                    }
                }
                return first;
            };
        }
    }

    /**
     * Where the lines of a partition go.
     *
     * @param table as the upper half declares it: the site's columns, and four of the cut
     */
    private final PlanTable table;

    private final Order order;
    private long rows;

    public PartialsMerge(PlanTable table, Order order) {
        this.table = table;
        this.order = order;
    }

    /** Rows of all partitions that were written. */
    public long rows() {
        return rows;
    }

    private static final class Site {
        final String name;
        final SiteStream stream;
        long watermark = Long.MIN_VALUE;

        Site(String name, SiteStream stream) {
            this.name = name;
            this.stream = stream;
        }
    }

    /**
     * Writes a partition.
     *
     * @param streams what each of its sites has sent, by name
     */
    public void write(Map<String, Path> streams, Path file) throws IOException {
        List<Site> sites = new ArrayList<>();
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (Map.Entry<String, Path> stream : streams.entrySet()) {
                sites.add(new Site(stream.getKey(), SiteStream.open(stream.getValue())));
            }
            merge(sites, out);
        } finally {
            for (Site site : sites) {
                site.stream.close();
            }
        }
    }

    private void merge(List<Site> sites, BufferedWriter out) throws IOException {
        List<Site> open = new ArrayList<>(sites);
        long written = Long.MIN_VALUE;
        while (!open.isEmpty()) {
            Site site = open.get(order.next(open.stream().map(one -> one.watermark).toList()));
            SiteItem item = site.stream.next();
            if (item instanceof SiteRow row) {
                write(out, line(site.name, minimum(sites), row));
                rows++;
            } else if (item instanceof SiteWatermark watermark) {
                site.watermark = Math.max(site.watermark, watermark.millis());
            } else {
                open.remove(site);
                site.watermark = Long.MAX_VALUE;
            }
            long minimum = minimum(sites);
            if (minimum > written) {
                write(out, line(site.name, minimum));
                written = minimum;
            }
        }
    }

    private static long minimum(List<Site> sites) {
        return sites.stream().mapToLong(site -> site.watermark).min().orElse(Long.MAX_VALUE);
    }

    private ObjectNode line(String site, long watermark, SiteRow row) throws IOException {
        ObjectNode line = JSON.createObjectNode();
        int column = 0;
        for (JsonNode value : row.values()) {
            line.set(table.columns().get(column++).name(), value);
        }
        List<PlanColumn> own = table.columns().subList(column, table.columns().size());
        if (!own.equals(OWN)) {
            throw new IOException(
                    "site %s sends rows of %d columns, and table %s has the columns %s behind them, not %s"
                            .formatted(site, column, table.name(), own, OWN));
        }
        return line.put("edge_site", site)
                .put("edge_row", true)
                .put("edge_watermark", clamp(watermark));
    }

    private static ObjectNode line(String site, long watermark) {
        return JSON.createObjectNode()
                .put("edge_site", site)
                .put("edge_row", false)
                .put("edge_watermark", clamp(watermark));
    }

    /** The columns that the cut adds and that are written. */
    private static final List<PlanColumn> OWN =
            List.of(
                    new PlanColumn("edge_site", "VARCHAR(2147483647)"),
                    new PlanColumn("edge_row", "BOOLEAN"),
                    new PlanColumn("edge_watermark", "BIGINT"));

    private static long clamp(long watermark) {
        return Math.max(WATERMARK_MIN, Math.min(WATERMARK_MAX, watermark));
    }

    private static void write(BufferedWriter out, ObjectNode line) throws IOException {
        out.write(line.toString());
        out.write('\n');
    }
}
