package io.afterbay.cli.engine;

import java.net.URI;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Where checkpoints are, as users write it: a URI of one of Flink's file systems, or a path. */
public final class StoragePath {
    private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*:/.*");

    private StoragePath() {}

    /**
     * The URI; that of a local path is absolute.
     *
     * @throws IllegalArgumentException if it is neither
     */
    public static URI uri(String text) {
        return SCHEME.matcher(text).matches()
                ? URI.create(text)
                : Path.of(text).toAbsolutePath().normalize().toUri();
    }
}
