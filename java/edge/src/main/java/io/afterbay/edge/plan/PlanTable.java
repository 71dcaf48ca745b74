package io.afterbay.edge.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A table of a plan.
 *
 * @param identifier as SQL has it, with catalog and database
 * @param name without catalog and database
 * @param columns those that rows come with or are written, with their types in SQL
 * @param options of its connector
 */
public record PlanTable(
        String identifier, String name, List<PlanColumn> columns, Map<String, String> options) {
    /**
     * @param type in SQL, for example {@code TIMESTAMP(3)}
     */
    public record PlanColumn(String name, String type) {
        /** Whether sums of it depend on the order of what is added. */
        public boolean isApproximate() {
            return type.startsWith("DOUBLE") || type.startsWith("FLOAT");
        }
    }

    static PlanTable of(JsonNode table) {
        List<PlanColumn> columns = new ArrayList<>();
        for (JsonNode column : table.path("resolvedTable").path("schema").path("columns")) {
            if (!column.has("kind")) {
                columns.add(new PlanColumn(column.path("name").asText(), type(column)));
            }
        }
        Map<String, String> options = new LinkedHashMap<>();
        table.path("resolvedTable")
                .path("options")
                .fields()
                .forEachRemaining(
                        option -> options.put(option.getKey(), option.getValue().asText()));
        String identifier = table.path("identifier").asText();
        return new PlanTable(identifier, name(identifier), columns, options);
    }

    private static String type(JsonNode column) {
        JsonNode type = column.path("dataType");
        return type.isTextual() ? type.asText() : type.path("type").asText();
    }

    /** Of an identifier such as {@code `default_catalog`.`default_database`.`reports`}. */
    private static String name(String identifier) {
        String unquoted = identifier.substring(0, Math.max(0, identifier.length() - 1));
        return unquoted.substring(unquoted.lastIndexOf('`') + 1);
    }
}
