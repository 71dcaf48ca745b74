package io.afterbay.spark;

import io.afterbay.spark.QueryProcess.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.spark.launcher.JavaModuleOptions;

/**
 * A {@link QueryProcess} as others see it: a driver and, if it is not {@code local[N]}, two
 * executors, each a JVM of its own.
 *
 * <p>Spark's workers look for Spark's jars in SPARK_HOME; here that is an empty directory, and the
 * executors have the class path of the driver.
 */
final class Application implements AutoCloseable {
    private static final String MODULES = JavaModuleOptions.defaultModuleOptions();

    private final Process driver;
    private final Path dir;
    private final Set<ProcessHandle> seen = new HashSet<>();

    private Application(Process driver, Path dir) {
        this.driver = driver;
        this.dir = dir;
    }

    /** Driver and executors apart. */
    static Application onCluster(
            Platform platform,
            Mode mode,
            QueryKind kind,
            String input,
            Path dir,
            Map<String, String> more)
            throws IOException {
        List<String> settings = new ArrayList<>();
        settings.add("spark.master=local-cluster[2,1,600]");
        settings.add("spark.executor.memory=600m");
        settings.add("spark.executor.extraClassPath=" + platform.classPath());
        settings.add("spark.afterbay.commit.silenceMax=5s");
        more.forEach((key, value) -> settings.add(key + "=" + value));
        return start(platform, mode, List.of(kind), input, dir, 1_000, settings);
    }

    /** Without us, and without patience. */
    static Application vanilla(Platform platform, List<QueryKind> kinds, String input, Path dir)
            throws IOException {
        List<String> settings = List.of("spark.master=local[2]");
        return start(platform, Mode.VANILLA, kinds, input, dir, 0, settings);
    }

    private static Application start(
            Platform platform,
            Mode mode,
            List<QueryKind> kinds,
            String input,
            Path dir,
            int failuresMax,
            List<String> settings)
            throws IOException {
        Path home = dir.resolve("spark-home");
        Files.createDirectories(home.resolve("jars"));
        Files.deleteIfExists(dir.resolve("stop"));
        List<String> command = new ArrayList<>();
        command.add(platform.java().toString());
        command.addAll(List.of(Pattern.compile("\\s+").split(MODULES.trim())));
        command.addAll(List.of("-Xmx700m", "-XX:TieredStopAtLevel=1", "-cp", platform.classPath()));
        command.add("-Dtest.log=" + System.getProperty("test.log", "off"));
        command.add(QueryProcess.class.getName());
        command.addAll(
                List.of(
                        mode.name(),
                        input,
                        dir.toString(),
                        Integer.toString(failuresMax),
                        String.join(",", kinds.stream().map(Enum::name).toList())));
        command.add("spark.local.dir=" + dir.resolve("local"));
        command.add("spark.driver.host=localhost");
        command.add("spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1");
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
        executors();
        Files.writeString(dir.resolve("stop"), "");
        return awaitEnd();
    }

    int awaitEnd() throws IOException, InterruptedException {
        if (!driver.waitFor(60, TimeUnit.SECONDS)) {
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
