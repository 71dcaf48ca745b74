package io.afterbay.edge.app;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An app file that is right, as the program of the sites has read it.
 *
 * @param services in the order in which they need each other
 */
public record AppFile(String name, List<AppService> services) {
    /**
     * A part of an application.
     *
     * @param kind source, view, statement, sink or store
     * @param location for example {@code edge *} or {@code cloud main}
     * @param line in the file
     * @param columns of a table, as CREATE TABLE has them; else empty
     * @param options of a table
     * @param sql of a view or statement, where it stands in the file; else empty
     * @param sqlFile where it stands in one beside it; else empty
     * @param local columns of a source of which no value is at two sites
     */
    public record AppService(
            String name,
            String kind,
            String location,
            int line,
            String columns,
            Map<String, String> options,
            String sql,
            String sqlFile,
            List<String> local) {
        static AppService of(JsonNode json) {
            Map<String, String> options = new LinkedHashMap<>();
            json.path("options")
                    .fields()
                    .forEachRemaining(
                            option -> options.put(option.getKey(), option.getValue().asText()));
            List<String> local = new ArrayList<>();
            json.path("local").forEach(column -> local.add(column.asText()));
            return new AppService(
                    json.path("name").asText(),
                    json.path("kind").asText(),
                    json.path("location").asText(),
                    json.path("line").asInt(),
                    json.path("columns").asText(),
                    options,
                    json.path("sql").asText(),
                    json.path("sqlFile").asText(),
                    local);
        }
    }

    /** From what {@code afterbay-edge app --json} says. */
    public static AppFile of(JsonNode json) {
        Map<String, AppService> services = new LinkedHashMap<>();
        json.path("services")
                .forEach(
                        service ->
                                services.put(
                                        service.path("name").asText(), AppService.of(service)));
        List<AppService> ordered = new ArrayList<>();
        while (!services.isEmpty()) {
            take(services, json.path("connections"), ordered);
        }
        return new AppFile(json.path("name").asText(), ordered);
    }

    /** A service that needs none of the others; there are no circles. A sink is there before. */
    private static void take(
            Map<String, AppService> left, JsonNode connections, List<AppService> ordered) {
        AppService next =
                left.values().stream()
                        .filter(service -> isFree(service, left, connections))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("a circle: " + left));
        left.remove(next.name());
        ordered.add(next);
    }

    private static boolean isFree(
            AppService service, Map<String, AppService> left, JsonNode connections) {
        boolean isTable = !service.columns().isEmpty();
        for (JsonNode connection : connections) {
            String from = connection.path("from").asText();
            String to = connection.path("to").asText();
            if (!isTable && to.equals(service.name()) && left.containsKey(from)) {
                return false;
            }
            // A statement names the tables that it writes, too.
            AppService target = left.get(to);
            if (from.equals(service.name())
                    && service.kind().equals("statement")
                    && target != null
                    && !target.columns().isEmpty()) {
                return false;
            }
        }
        return true;
    }
}
