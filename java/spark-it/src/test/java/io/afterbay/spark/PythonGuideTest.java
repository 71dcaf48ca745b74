package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LongForm;
import io.afterbay.testing.Prerequisite;
import io.afterbay.testing.PythonEnvironment;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What docs/spark-python.md says works, in a copy of the checkout. */
@Timeout(value = 45, unit = TimeUnit.MINUTES) // of which each command may take ten
class PythonGuideTest {
    private static final Path PROJECT = Path.of("../..").toAbsolutePath().normalize();
    private static final Path GUIDE = PROJECT.resolve("docs/spark-python.md");
    private static final Path EXAMPLE = PROJECT.resolve("examples/pyspark/jams.py");
    private static final int COMMANDS = 4;

    /** What the guide's commands need; what is built there is not built again. */
    private static final List<String> WHOLE =
            List.of(
                    "java/spark",
                    "java/slow-dfs",
                    "java/.mvn",
                    "examples/pyspark",
                    "examples/traffic-jam");

    @TempDir private Path checkout;

    @Test
    @LongForm
    void itsCommandsRun() throws Exception {
        copyProject();
        StringBuilder said = new StringBuilder();
        List<String> commands = blocks("sh").toList();
        assertThat(commands).hasSize(COMMANDS);
        for (String command : commands) {
            said.append(run(command));
        }
        assertThat(said)
                .containsPattern("without +6 ")
                .containsPattern("pipelined +6 ")
                .containsPattern("All runs have the same \\d{3,} rows")
                .containsPattern("6 batches with Afterbay, 6 without.*: the same \\d{3,} rows");
    }

    /** Its lines are those of the example, which has just run, and its versions the build's. */
    @Test
    void itsSettingsAreThoseOfTheExample() throws Exception {
        String guide = Files.readString(GUIDE);
        String example = Files.readString(EXAMPLE);
        String lines = blocks("python").findFirst().orElseThrow();
        List<String> settings =
                Pattern.compile("\\.config\\((\".*\"), (\".*\")\\)")
                        .matcher(lines)
                        .results()
                        .filter(line -> !line.group(1).equals("\"spark.jars\""))
                        .map(line -> line.group(1) + ": " + line.group(2))
                        .toList();
        assertThat(settings).hasSize(5).allSatisfy(line -> assertThat(example).contains(line));
        assertThat(guide)
                .contains("pyspark==" + System.getProperty("afterbay.spark"))
                .contains(System.getProperty("afterbay.spark.before"))
                .contains(System.getProperty("afterbay.spark.newest"));
    }

    private static Stream<String> blocks(String language) throws IOException {
        return Pattern.compile(
                        "^```" + language + "\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
                .matcher(Files.readString(GUIDE))
                .results()
                .map(block -> block.group(1));
    }

    /** What it says. The one with pip is also whether this machine has Python and a registry. */
    private String run(String command) throws IOException, InterruptedException {
        Path log = Files.createTempFile(checkout, "log", "");
        ProcessBuilder builder =
                new ProcessBuilder("sh", "-eu", "-c", command)
                        .directory(checkout.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile());
        builder.environment().put("JAMS_BATCHES", "6");
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        try {
            assertThat(process.waitFor(10, TimeUnit.MINUTES)).as(command).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String said = Files.readString(log);
        System.out.println(command + said);
        boolean isDone = process.exitValue() == 0;
        if (command.contains("pip install")) {
            Prerequisite.check(isDone, () -> PythonEnvironment.NEEDED + said);
        }
        assertThat(isDone).as("%s%s", command, said).isTrue();
        return said;
    }

    private void copyProject() throws IOException {
        for (String part : WHOLE) {
            copy(PROJECT.resolve(part));
        }
        copy(PROJECT.resolve("java/mvnw"));
        // Maven reads the modules that it does not build, too.
        String modules = Files.readString(PROJECT.resolve("java/pom.xml"));
        Pattern.compile("<module>(.*)</module>")
                .matcher(modules)
                .results()
                .map(module -> "java/" + module.group(1) + "/pom.xml")
                .forEach(pom -> copyUnchecked(PROJECT.resolve(pom).normalize()));
        copy(PROJECT.resolve("java/pom.xml"));
    }

    private void copyUnchecked(Path file) {
        try {
            copy(file);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** With the times of files, by which Maven sees what is built. */
    private void copy(Path from) throws IOException {
        Files.walkFileTree(
                from,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                            throws IOException {
                        Path to = checkout.resolve(PROJECT.relativize(file).toString());
                        Files.createDirectories(to.getParent());
                        Files.copy(
                                file,
                                to,
                                StandardCopyOption.COPY_ATTRIBUTES,
                                StandardCopyOption.REPLACE_EXISTING);
                        return FileVisitResult.CONTINUE;
                    }
                });
    }
}
