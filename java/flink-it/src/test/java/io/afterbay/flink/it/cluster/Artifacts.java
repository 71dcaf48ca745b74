package io.afterbay.flink.it.cluster;

import java.nio.file.Files;
import java.nio.file.Path;

/** The files that the build made for these tests; their places are system properties. */
public final class Artifacts {
    private Artifacts() {}

    static Path flinkLib() {
        return existing("flinkLib");
    }

    /** ZooKeeper's server; its logging and compression are in {@link #flinkLib}. */
    static Path zooKeeperLib() {
        return existing("zooKeeperLib");
    }

    public static Path backendJar() {
        return existing("backendJar");
    }

    public static Path ledgerJar() {
        return existing("ledgerJar");
    }

    public static Path trafficJamJar() {
        return existing("trafficJamJar");
    }

    /** {@code docs/flink.md}. */
    public static Path guide() {
        return existing("guide");
    }

    /** Where clusters, savepoints and results of these tests live. */
    public static Path workDir() {
        return property("workDir");
    }

    private static Path existing(String name) {
        Path path = property(name);
        if (!Files.exists(path)) {
            throw new IllegalStateException(
                    "%s is missing: run these tests with `mvn verify -pl flink-it -am`"
                            .formatted(path));
        }
        return path.toAbsolutePath();
    }

    private static Path property(String name) {
        String value = System.getProperty("afterbay.it." + name);
        if (value == null) {
            throw new IllegalStateException(
                    "system property afterbay.it.%s is set by the build: run these tests with `mvn verify -pl flink-it -am`"
                            .formatted(name));
        }
        return Path.of(value);
    }
}
