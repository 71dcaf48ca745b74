package io.afterbay.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.launcher.JavaModuleOptions;

/**
 * What an application runs on.
 *
 * @param javaHome of a Java that Spark supports
 * @param classPath Spark of some version, Afterbay, and these tests
 */
record Platform(Path javaHome, String classPath) {
    /** Java and Spark of this process. */
    static Platform own() {
        return new Platform(
                Path.of(System.getProperty("java.home")),
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path")));
    }

    Path java() {
        return javaHome.resolve("bin/java");
    }

    /**
     * Whether it has the module that Spark adds to what it starts: JDKs have it, some runtimes do
     * not, and Spark starts no executors with these.
     */
    boolean canStartExecutors() throws IOException {
        return Files.readString(javaHome.resolve("release")).contains("jdk.incubator.vector");
    }

    /** Flags of a JVM with Spark. */
    List<String> moduleFlags() throws IOException {
        boolean isWhole = canStartExecutors();
        return Stream.of(JavaModuleOptions.defaultModuleOptions().trim().split("\\s+"))
                .filter(flag -> isWhole || !flag.startsWith("--add-modules"))
                .toList();
    }
}
