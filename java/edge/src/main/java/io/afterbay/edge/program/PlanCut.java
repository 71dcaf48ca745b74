package io.afterbay.edge.program;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.edge.plan.PlanJson;
import java.nio.file.Path;
import java.util.List;

/**
 * A plan that is cut.
 *
 * @param report nodes and reasons, as the program tells them
 * @param lower what runs at each site, a file for the program
 * @param upper what stays in the cloud, from {@link #table} on
 * @param local columns that are local to a site: whoever runs the lower half has to know them
 */
public record PlanCut(JsonNode report, Path lower, PlanJson upper, List<String> local) {
    public PlanCut {
        local = List.copyOf(local);
    }

    /** The table between the halves. */
    public String table() {
        return report.path("pipelines").path(0).path("table").asText();
    }

    /** What the program is told of local columns: nothing if there are none. */
    public List<String> localArguments() {
        return localArguments(local);
    }

    static List<String> localArguments(List<String> local) {
        return local.isEmpty() ? List.of() : List.of("--local", String.join(",", local));
    }

    /**
     * Whether sites make the watermarks. If not, the upper half makes them of the rows of each
     * partition, so that each site needs a partition of its own.
     */
    public boolean sitesMakeWatermarks() {
        return report.path("pipelines").path(0).path("watermark").asBoolean();
    }

    /** Whether rows are final at the sites. */
    public boolean isFinal() {
        return sent().equals("final");
    }

    /** What leaves the sites: raw, filtered, projected, partial or final rows. */
    public String sent() {
        return report.path("pipelines").path(0).path("rows").asText();
    }
}
