package io.afterbay.flink.it.cluster;

import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;

/**
 * A Flink home folder as the download has it: {@code lib}, {@code conf}, {@code log} and {@code
 * bin/flink}. The jars are those of Maven Central, which has no {@code flink-dist}, so {@code lib}
 * holds the modules one by one.
 */
public final class FlinkHome {
    /** Name of our jar in {@code lib}. */
    public static final String BACKEND_JAR = "afterbay-flink.jar";

    /** What the {@code config.yaml} of the download passes to every JVM of a cluster. */
    static final List<String> JAVA_OPTIONS =
            Stream.concat(
                            Stream.of(
                                            "java.base/sun.net.util",
                                            "java.rmi/sun.rmi.registry",
                                            "java.security.jgss/sun.security.krb5")
                                    .map(p -> "--add-exports=" + p + "=ALL-UNNAMED"),
                            Stream.of(
                                            "java.lang",
                                            "java.net",
                                            "java.io",
                                            "java.nio",
                                            "sun.nio.ch",
                                            "java.lang.reflect",
                                            "java.text",
                                            "java.time",
                                            "java.util",
                                            "java.util.concurrent",
                                            "java.util.concurrent.atomic",
                                            "java.util.concurrent.locks")
                                    .map(p -> "--add-opens=java.base/" + p + "=ALL-UNNAMED"))
                    .toList();

    /** Log4j properties of a JVM whose standard output goes to its log. */
    static final String CONSOLE_LOGGING =
            """
            rootLogger.level = INFO
            rootLogger.appenderRef.console.ref = console
            appender.console.name = console
            appender.console.type = CONSOLE
            appender.console.layout.type = PatternLayout
            appender.console.layout.pattern = %d{HH:mm:ss,SSS} %-5p %-50c{1} - %m%n
            """;

    private final Path root;

    private FlinkHome(Path root) {
        this.root = root;
    }

    /**
     * @param root a new folder
     * @param withBackend whether our jar is in {@code lib}
     */
    public static FlinkHome create(Path root, boolean withBackend) {
        try {
            FlinkHome home = new FlinkHome(root);
            for (String folder : List.of("lib", "conf", "log", "bin", "tmp")) {
                Files.createDirectories(root.resolve(folder));
            }
            home.linkLib();
            if (withBackend) {
                Files.createSymbolicLink(home.lib().resolve(BACKEND_JAR), Artifacts.backendJar());
            }
            home.writeLogging();
            home.writeLauncher();
            return home;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void linkLib() throws IOException {
        try (Stream<Path> jars = Files.list(Artifacts.flinkLib())) {
            for (Path jar : jars.toList()) {
                Files.createSymbolicLink(lib().resolve(jar.getFileName()), jar);
            }
        }
    }

    /** Writes {@code conf/config.yaml} with flat keys. */
    public void writeConfig(Map<String, String> config) throws IOException {
        Files.writeString(
                conf().resolve("config.yaml"),
                config.entrySet().stream()
                        .map(e -> e.getKey() + ": " + e.getValue() + "\n")
                        .sorted()
                        .collect(Collectors.joining()));
    }

    private void writeLogging() throws IOException {
        Files.writeString(conf().resolve("log4j.properties"), CONSOLE_LOGGING);
        Files.writeString(
                conf().resolve("log4j-cli.properties"),
                """
                rootLogger.level = INFO
                rootLogger.appenderRef.file.ref = file
                appender.file.name = file
                appender.file.type = FILE
                appender.file.fileName = ${sys:log.file}
                appender.file.layout.type = PatternLayout
                appender.file.layout.pattern = %d{HH:mm:ss,SSS} %-5p %-50c{1} - %m%n
                """);
    }

    /** The download's {@code bin/flink} comes to this once its environment is read. */
    private void writeLauncher() throws IOException {
        Path flink = root.resolve("bin/flink");
        Files.writeString(
                flink,
                """
                #!/bin/sh
                home=$(cd "$(dirname "$0")/.." && pwd)
                FLINK_CONF_DIR=$home/conf exec "%s" -Xmx256m %s %s \\
                    -Dlog.file="$home/log/client.log" \\
                    -Dlog4j.configurationFile="file:$home/conf/log4j-cli.properties" \\
                    -classpath "$home/lib/*" org.apache.flink.client.cli.CliFrontend "$@"
                """
                        .formatted(
                                java(),
                                String.join(" ", OwnJvm.SHORT_LIVED),
                                String.join(" ", JAVA_OPTIONS)));
        Files.setPosixFilePermissions(flink, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** Deletes all but the logs. */
    void deleteAllButLogs() {
        try {
            for (Path path : FileUtils.listDirectory(root)) {
                if (!path.equals(log())) {
                    FileUtils.deleteFileOrDirectory(path.toFile());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    public Path root() {
        return root;
    }

    Path lib() {
        return root.resolve("lib");
    }

    /** Where checkpoints go. */
    public Path checkpoints() {
        return root.resolve("checkpoints");
    }

    /** Where savepoints go. */
    public Path savepoints() {
        return root.resolve("savepoints");
    }

    Path conf() {
        return root.resolve("conf");
    }

    public Path log() {
        return root.resolve("log");
    }
}
