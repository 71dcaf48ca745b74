package io.afterbay.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LongForm;
import io.afterbay.testing.PythonEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Jobs in Python, on PyPI's package of this version of Flink, with our jar in its {@code lib}
 * folder: {@code src/test/python/jobs.py}. In process mode, a second thread uses the state.
 */
@LongForm
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class PyFlinkIT {
    private static final Path JOBS = Path.of("src/test/python/jobs.py").toAbsolutePath();
    private static PythonEnvironment python;

    @TempDir private Path directory;

    @BeforeAll
    static void install() throws Exception {
        python = PythonEnvironment.with("apache-flink", System.getProperty("afterbay.it.flink"));
        Path lib = python.find(f -> f.endsWith("pyflink/lib")).get(0);
        Files.copy(
                Path.of(System.getProperty("afterbay.it.backendJar")),
                lib.resolve("afterbay-flink.jar"),
                StandardCopyOption.REPLACE_EXISTING);
    }

    /**
     * The heap's rows are the right ones. Two are missing: tables with views do not run in thread
     * mode, and session windows fail there on every backend that writes namespaces, RocksDB too
     * (PyFlink gives a void namespace to state that has windows).
     */
    @ParameterizedTest
    @CsvSource({
        "states, process",
        "states, thread",
        "windows, process",
        "table, process",
    })
    void rowsAreThoseOfTheHeap(String job, String mode) throws Exception {
        List<String> expected = rows(job, "hashmap", mode);
        assertThat(expected).hasSizeGreaterThan(50);
        assertThat(rows(job, "afterbay", mode)).isEqualTo(expected);
    }

    /** It compares with what plain Python says. */
    @ParameterizedTest
    @CsvSource({"process", "thread"})
    void rightWhileTimersFireInTheTasksThread(String mode) throws Exception {
        assertThat(rows("race", "afterbay", mode)).isNotEmpty();
    }

    /** From a savepoint, and to another backend and back; compared with what plain Python says. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "afterbay,afterbay; process",
                "afterbay,afterbay; thread",
                "hashmap,afterbay; process",
                "afterbay,hashmap; process",
            })
    void goesOnFromASavepoint(String backends, String mode) throws Exception {
        assertThat(rows("restored", backends, mode, directory.toString())).hasSize(20);
    }

    private List<String> rows(String... arguments) throws Exception {
        List<String> lines = run(arguments).lines().toList();
        assertThat(lines).contains("rows:");
        return lines.subList(lines.indexOf("rows:") + 1, lines.size());
    }

    /** What it says on standard output. */
    private String run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(python.command("python").toString());
        command.add(JOBS.toString());
        command.addAll(List.of(arguments));
        Path out = Files.createTempFile(directory, "out", "");
        Path log = Files.createTempFile(directory, "log", "");
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(directory.toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(log.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        String path = builder.environment().getOrDefault("PATH", "");
        builder.environment()
                .put("PATH", python.command("python").getParent() + ":" + path); // for its workers
        Process process = builder.start();
        try {
            assertThat(process.waitFor(10, TimeUnit.MINUTES)).as("%s", command).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue())
                .as("%s%n%s%n%s", command, Files.readString(out), Files.readString(log))
                .isZero();
        return Files.readString(out);
    }
}
