package io.afterbay.spark;

import java.nio.file.Path;

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
}
