package io.afterbay.edge.run;

import io.afterbay.edge.plan.PlanTable;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Options of tables that lie in files of this machine. */
public final class Tables {
    private Tables() {}

    /** Lines of JSON. */
    public static Map<String, String> json(Path path) {
        return Map.of(
                "connector", "filesystem",
                "format", "json",
                "path", path.toAbsolutePath().toUri().toString());
    }

    /**
     * Lines of JSON that are read as a table says: with its options of that format, but not those
     * of its connector.
     */
    static Map<String, String> json(PlanTable table, Path path) {
        return withFormatOf(table, json(path));
    }

    /** Options of a table of JSON, with what another table says of that format. */
    public static Map<String, String> withFormatOf(PlanTable table, Map<String, String> others) {
        Map<String, String> options = new LinkedHashMap<>(others);
        table.options()
                .forEach(
                        (name, value) -> {
                            if (name.startsWith("json.")) {
                                options.put(name, value);
                            }
                        });
        return options;
    }
}
