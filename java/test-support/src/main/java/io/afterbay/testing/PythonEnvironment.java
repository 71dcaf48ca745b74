package io.afterbay.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A virtual environment of Python with a package from PyPI, in the directory that the system
 * property {@code afterbay.target} names. It is made when it is first needed, which takes Python
 * and a registry, and stays.
 */
public final class PythonEnvironment {
    private static final int MINUTES_MAX = 10;

    /** What a message begins with if something of it is missing. */
    public static final String NEEDED =
            "Python with venv (Debian: apt-get install python3-venv) and a registry that pip"
                    + " reaches are needed: ";

    private final Path dir;

    private PythonEnvironment(Path dir) {
        this.dir = dir;
    }

    public static PythonEnvironment with(String name, String version)
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
            return e.toString();
        }
        if (!process.waitFor(MINUTES_MAX, TimeUnit.MINUTES)) {
            process.destroyForcibly();
            return String.join(" ", command) + " takes longer than " + MINUTES_MAX + " minutes";
        }
        return process.exitValue() == 0
                ? ""
                : String.join(" ", command) + " failed: " + Files.readString(log);
    }

    /** The command of that name. */
    public Path command(String name) {
        return dir.resolve("bin").resolve(name);
    }

    /** What is installed and is that, sorted: files and directories. */
    public List<Path> find(Predicate<Path> which) throws IOException {
        try (Stream<Path> files = Files.walk(dir.resolve("lib"))) {
            return files.filter(which).sorted().toList();
        }
    }
}
