package io.afterbay.cli.process;

import io.afterbay.command.CommandFailure;
import java.nio.file.Path;
import java.util.List;

/** How programs of the module {@code kafka-workloads} are started. */
public final class KafkaLauncher {
    private static final String PACKAGE = "io.afterbay.kafka.workloads.";

    private KafkaLauncher() {}

    /**
     * A program with Kafka's libraries, which hands over by a directory.
     *
     * @param program name of its class
     * @param heap as the JVM wants it
     * @param directory of its plan and report
     * @param temporary directory for what its libraries unpack
     * @param verbose whether Kafka's log goes where this process writes errors, rather than to the
     *     file
     * @throws CommandFailure if its libraries are not there
     */
    public static ProcessBuilder builder(
            String program, String heap, Path directory, Path temporary, boolean verbose, Path log)
            throws CommandFailure {
        List<String> command = WorkerJvm.command(List.of(heap, "-XX:+ExitOnOutOfMemoryError"));
        command.addAll(
                List.of(
                        "-Djava.io.tmpdir=" + temporary,
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=" + (verbose ? "info" : "error"),
                        "-cp",
                        KafkaClassPath.read(),
                        PACKAGE + program,
                        directory.toString()));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "2");
        return builder.redirectError(
                verbose
                        ? ProcessBuilder.Redirect.INHERIT
                        : ProcessBuilder.Redirect.to(log.toFile()));
    }
}
