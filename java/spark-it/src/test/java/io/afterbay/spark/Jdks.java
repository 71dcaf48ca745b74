package io.afterbay.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Versions of Java on this machine beside the one that runs the tests. */
final class Jdks {
    private Jdks() {}

    /** The home of one of that version, or null. */
    static @Nullable Path find(int version) throws IOException {
        for (Path home : homes(version)) {
            if (isOf(version, home)) {
                return home;
            }
        }
        return null;
    }

    private static List<Path> homes(int version) throws IOException {
        Stream<Path> named =
                Stream.of("JAVA_HOME_" + version, "JAVA_HOME_" + version + "_X64")
                        .map(System::getenv)
                        .filter(Objects::nonNull)
                        .map(Path::of);
        Path installed = Path.of("/usr/lib/jvm");
        if (!Files.isDirectory(installed)) {
            return named.toList();
        }
        try (Stream<Path> homes = Files.list(installed)) {
            return Stream.concat(named, homes.sorted()).toList();
        }
    }

    /** As its file {@code release} says. */
    private static boolean isOf(int version, Path home) throws IOException {
        Path release = home.resolve("release");
        return Files.isExecutable(home.resolve("bin/java"))
                && Files.exists(release)
                && Files.readString(release).contains("JAVA_VERSION=\"" + version);
    }
}
