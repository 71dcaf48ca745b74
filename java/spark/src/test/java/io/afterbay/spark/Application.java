package io.afterbay.spark;

import io.afterbay.spark.QueryProcess.Mode;
import io.afterbay.testing.Await;
import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A {@link QueryProcess} as others see it: a driver and, if it is not {@code local[N]}, two
 * executors, each a JVM of its own.
 *
 * <p>Spark's workers look for Spark's jars in SPARK_HOME; here that is an empty directory, and the
 * executors have the class path of the driver.
 */
final class Application implements AutoCloseable {
    private static final long END_SECONDS_MAX = Await.DEADLINE.toSeconds();

    private final Process driver;
    private final Path dir;
    private final Set<ProcessHandle> seen = new HashSet<>();

    private Application(Process driver, Path dir) {
        this.driver = driver;
        this.dir = dir;
    }

    /** Driver and executors apart, if the platform has executors. */
    static Application onCluster(
            Platform platform,
            Map<QueryKind, Mode> queries,
            String input,
            Path dir,
            Map<String, String> more)
            throws IOException {
        List<String> settings = new ArrayList<>();
        String master = platform.canStartExecutors() ? "local-cluster[2,1,600]" : "local[2]";
        settings.add("spark.master=" + master);
        settings.add("spark.executor.memory=600m");
        settings.add("spark.executor.extraClassPath=" + platform.classPath());
        settings.add("spark.afterbay.commit.silenceMax=5s");
        more.forEach((key, value) -> settings.add(key + "=" + value));
        return start(platform, queries, input, List.of(dir), 1_000, settings);
    }

    /**
     * Without us, and without patience.
     *
     * @param directories in each of which the queries run
     * @param more settings as KEY=VALUE
     */
    static Application vanilla(
            Platform platform,
            List<QueryKind> kinds,
            String input,
            List<Path> directories,
            String... more)
            throws IOException {
        Map<QueryKind, Mode> queries = new EnumMap<>(QueryKind.class);
        kinds.forEach(kind -> queries.put(kind, Mode.VANILLA));
        List<String> settings = new ArrayList<>(List.of("spark.master=local[2]"));
        settings.addAll(List.of(more));
        return start(platform, queries, input, directories, 0, settings);
    }

    private static Application start(
            Platform platform,
            Map<QueryKind, Mode> queries,
            String input,
            List<Path> directories,
            int failuresMax,
            List<String> settings)
            throws IOException {
        Path dir = directories.get(0);
        Path home = dir.resolve("spark-home");
        Files.createDirectories(home.resolve("jars"));
        Files.deleteIfExists(dir.resolve("stop"));
        List<String> command = new ArrayList<>();
        command.add(platform.java().toString());
        command.addAll(platform.moduleFlags());
        command.add("-Xmx700m");
        command.addAll(OwnJvm.SHORT_LIVED);
        command.addAll(List.of("-cp", platform.classPath()));
        command.add("-Dtest.log=" + System.getProperty("test.log", "off"));
        command.add(QueryProcess.class.getName());
        command.addAll(
                List.of(
                        words(queries),
                        input,
                        String.join(",", directories.stream().map(Path::toString).toList()),
                        Integer.toString(failuresMax)));
        command.add("spark.local.dir=" + dir.resolve("local"));
        command.add("spark.driver.host=localhost");
        command.add("spark.executor.extraJavaOptions=" + String.join(" ", OwnJvm.SHORT_LIVED));
        command.addAll(settings);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("SPARK_HOME", home.toString());
        builder.environment().put("JAVA_HOME", platform.javaHome().toString()); // of executors
        builder.environment().put("SPARK_SCALA_VERSION", "2.13");
        builder.environment().put("SPARK_LOCAL_HOSTNAME", "localhost");
        builder.redirectErrorStream(true);
        builder.redirectOutput(ProcessBuilder.Redirect.appendTo(dir.resolve("log").toFile()));
        return new Application(builder.start(), dir);
    }

    private static String words(Map<QueryKind, Mode> queries) {
        return queries.entrySet().stream()
                .map(query -> query.getKey() + "=" + query.getValue())
                .collect(Collectors.joining(","));
    }

    boolean isAlive() {
        return driver.isAlive();
    }

    /** The driver starts no other JVMs. Their command lines are too long to be read. */
    List<ProcessHandle> executors() {
        List<ProcessHandle> result =
                driver.children()
                        .filter(p -> p.info().command().orElse("").endsWith("java"))
                        .toList();
        seen.addAll(result);
        return result;
    }

    /** With -9; {@code false} if there is none at the moment. */
    boolean killExecutor(Random random) {
        List<ProcessHandle> executors = executors();
        return !executors.isEmpty()
                && executors.get(random.nextInt(executors.size())).destroyForcibly();
    }

    /** With -9. Its executors find out by themselves, and may write until then. */
    void killDriver() throws InterruptedException {
        executors();
        driver.destroyForcibly();
        driver.waitFor();
    }

    /** All processes, as nearly at once as it goes. */
    void killAll() throws InterruptedException {
        List<ProcessHandle> executors = executors();
        driver.destroyForcibly();
        executors.forEach(ProcessHandle::destroyForcibly);
        driver.waitFor();
    }

    /** As its user ends it. */
    int stop() throws Exception {
        return stop(END_SECONDS_MAX);
    }

    /** The same, for one that takes as long as that, at most. */
    int stop(long secondsMax) throws Exception {
        executors();
        Files.writeString(dir.resolve("stop"), "");
        return awaitEnd(secondsMax);
    }

    int awaitEnd() throws IOException, InterruptedException {
        return awaitEnd(END_SECONDS_MAX);
    }

    private int awaitEnd(long secondsMax) throws IOException, InterruptedException {
        if (!driver.waitFor(secondsMax, TimeUnit.SECONDS)) {
            dumpThreads();
            throw new AssertionError("the application in " + dir + " does not end");
        }
        return driver.exitValue();
    }

    void signalExecutors(String signal) throws IOException, InterruptedException {
        for (ProcessHandle executor : executors()) {
            signal(signal, executor);
        }
    }

    private static void signal(String signal, ProcessHandle process)
            throws IOException, InterruptedException {
        String pid = Long.toString(process.pid());
        new ProcessBuilder("kill", "-" + signal, pid).start().waitFor();
    }

    /** Into its log. */
    private void dumpThreads() throws IOException, InterruptedException {
        signal("QUIT", driver.toHandle());
        Thread.sleep(1_000);
    }

    /** Why its queries failed, of all applications in that directory. */
    static String failures(Path dir) throws IOException {
        Path file = dir.resolve("failures");
        return Files.exists(file) ? Files.readString(file) : "";
    }

    /** Of each failure, the beginning of the first line. */
    static List<String> reasons(Path dir) throws IOException {
        return failures(dir)
                .lines()
                .filter(l -> l.matches("[a-z]\\S+(Exception|Error): .*"))
                .map(l -> l.substring(0, Math.min(300, l.length())))
                .toList();
    }

    @Override
    public void close() throws InterruptedException {
        executors();
        driver.destroyForcibly();
        driver.waitFor();
        for (ProcessHandle executor : seen) {
            executor.destroyForcibly();
            executor.onExit().join();
        }
    }
}
