package io.afterbay.edge.program;

import com.fasterxml.jackson.databind.node.ArrayNode;

/** What a site sends: rows, and watermarks between them. */
public sealed interface SiteItem {
    /**
     * @param values in the order of the columns, as Flink's JSON format writes them
     */
    record SiteRow(ArrayNode values) implements SiteItem {}

    /**
     * @param millis no row behind it belongs to an earlier time, unless it is late; {@link
     *     Long#MAX_VALUE} when the site's input has ended
     */
    record SiteWatermark(long millis) implements SiteItem {}
}
