package io.afterbay.replay;

import io.afterbay.kafka.workloads.BrokerProcess;
import io.afterbay.testing.OwnJvm;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A Kafka cluster of one node in a process of its own, which ends with this one. */
final class Broker implements AutoCloseable {
    private final Process process;
    private final String bootstrap;

    private Broker(Process process, String bootstrap) {
        this.process = process;
        this.bootstrap = bootstrap;
    }

    /**
     * Returns when it takes requests.
     *
     * @param directory for its files and its log
     */
    static Broker start(Path directory) throws Exception {
        Path log = Files.createDirectories(directory).resolve("broker.log");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx400m");
        command.addAll(OwnJvm.SHORT_LIVED);
        command.addAll(
                List.of(
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                        "-cp",
                        classPath(),
                        BrokerProcess.class.getName(),
                        directory.resolve("kafka").toString()));
        Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
        String bootstrap = process.inputReader(StandardCharsets.UTF_8).readLine();
        if (bootstrap == null) {
            throw new IOException("no broker: " + Files.readString(log));
        }
        return new Broker(process, bootstrap);
    }

    /** Its module's classes, and beside them what the module has noted that they need. */
    private static String classPath() throws IOException, URISyntaxException {
        Path classes =
                Path.of(
                        BrokerProcess.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        Path libraries = classes.resolveSibling("classpath.txt");
        return classes + File.pathSeparator + Files.readString(libraries);
    }

    String bootstrap() {
        return bootstrap;
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
