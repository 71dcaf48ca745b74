package io.afterbay.command;

import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import org.jspecify.annotations.Nullable;

/** Where the files of the project are: the launcher says so, else above the classes. */
public final class Installation {
    private static final String HOME_PROPERTY = "afterbay.home";
    private static final Path CITY_TRACE = Path.of("examples/traffic-jam/city-traffic.csv.gz");

    private Installation() {}

    public static Path cityTrace() {
        return home().resolve(CITY_TRACE);
    }

    /** The root of the project; the current directory where that is not known. */
    public static Path home() {
        String home = System.getProperty(HOME_PROPERTY);
        return home != null ? Path.of(home) : above(classes());
    }

    private static Path above(@Nullable Path start) {
        for (Path path = start; path != null; path = path.getParent()) {
            if (Files.exists(path.resolve(CITY_TRACE))) {
                return path;
            }
        }
        return Path.of("");
    }

    private static @Nullable Path classes() {
        CodeSource source = Installation.class.getProtectionDomain().getCodeSource();
        try {
            return source == null ? null : Path.of(source.getLocation().toURI());
        } catch (URISyntaxException e) {
            return null;
        }
    }
}
