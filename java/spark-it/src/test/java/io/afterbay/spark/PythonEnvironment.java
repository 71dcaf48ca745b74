package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A virtual environment of Python with PySpark from PyPI, which has all jars of its Spark. */
final class PythonEnvironment {
    private static final int MINUTES_MAX = 5;

    private final Path dir;

    private PythonEnvironment(Path dir) {
        this.dir = dir;
    }

    /** Made when it is first needed; a test without Python or network is skipped, and says so. */
    static PythonEnvironment withSpark(String version) throws IOException, InterruptedException {
        Path target = Path.of(System.getProperty("afterbay.target")).toAbsolutePath();
        Path dir = target.resolve("pyspark-" + version);
        Path complete = dir.resolve("complete");
        if (!Files.exists(complete)) {
            Path log = target.resolve("pyspark-" + version + ".log");
            assumeRuns(log, List.of("python3", "-m", "venv", "--clear", dir.toString()));
            String pip = dir.resolve("bin/pip").toString();
            assumeRuns(log, List.of(pip, "install", "--quiet", "pyspark==" + version));
            Files.createFile(complete);
        }
        return new PythonEnvironment(dir);
    }

    private static void assumeRuns(Path log, List<String> command)
            throws IOException, InterruptedException {
        String problem = run(log, command);
        Assumptions.assumeTrue(problem.isEmpty(), () -> "skipped: " + problem);
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
