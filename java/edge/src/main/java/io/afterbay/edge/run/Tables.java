package io.afterbay.edge.run;

import java.nio.file.Path;
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
}
