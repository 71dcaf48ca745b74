package io.afterbay.edge.program;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.edge.plan.PlanJson;
import java.nio.file.Path;

/**
 * A plan that is cut.
 *
 * @param report nodes and reasons, as the program tells them
 * @param lower what runs at each site, a file for the program
 * @param upper what stays in the cloud, from {@link #TABLE} on
 */
public record PlanCut(JsonNode report, Path lower, PlanJson upper) {
    /** The table between the halves. */
    public static final String TABLE = "edge_partials";

    /**
     * Whether sites make the watermarks. If not, the upper half makes them of the rows of each
     * partition, so that each site needs a partition of its own.
     */
    public boolean sitesMakeWatermarks() {
        return report.path("pipelines").path(0).path("watermark").asBoolean();
    }

    /** What leaves the sites: raw, filtered, projected or partial rows. */
    public String sent() {
        return report.path("pipelines").path(0).path("rows").asText();
    }
}
