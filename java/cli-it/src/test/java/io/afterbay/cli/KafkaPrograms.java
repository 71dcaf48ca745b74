package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.OwnJvm;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A broker, and programs that talk to it, in processes of their own: Kafka is in the job's jar, and
 * in no class path of ours.
 */
final class KafkaPrograms implements AutoCloseable {
    private static final String JOBS = "io.afterbay.flink.kafka.workloads.";

    private final Path directory;
    private final List<Process> started = new ArrayList<>();
    private int outputs;

    KafkaPrograms(Path directory) {
        this.directory = directory;
    }

    /** HOST:PORT of a new broker. */
    String broker() throws IOException {
        Process process =
                start(
                        "kafka-workloads",
                        "io.afterbay.kafka.workloads.BrokerProcess",
                        ProcessBuilder.Redirect.PIPE,
                        directory.resolve("broker").toString());
        return process.inputReader(StandardCharsets.UTF_8).readLine();
    }

    /** A program of {@code flink-kafka-workloads} that goes on; it says that in the file. */
    Process start(String program, Path output, String... arguments) throws IOException {
        return start(
                "flink-kafka-workloads",
                JOBS + program,
                ProcessBuilder.Redirect.to(output.toFile()),
                arguments);
    }

    /** One that ends; returns its exit code, and says the rest with it. */
    Ended run(String program, String... arguments) throws Exception {
        Path output = directory.resolve("program-" + ++outputs);
        Process process = start(program, output, arguments);
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        return new Ended(process.exitValue(), Files.readString(output));
    }

    record Ended(int code, String output) {}

    private Process start(
            String module, String main, ProcessBuilder.Redirect output, String... arguments)
            throws IOException {
        Path target = Path.of("..", module, "target").toAbsolutePath().normalize();
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OwnJvm.SHORT_LIVED);
        command.addAll(
                List.of(
                        "-Xmx400m",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        "-cp",
                        target.resolve("classes")
                                + File.pathSeparator
                                + Files.readString(target.resolve("classpath.txt")),
                        main));
        command.addAll(List.of(arguments));
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(output)
                        .redirectError(
                                ProcessBuilder.Redirect.appendTo(
                                        directory.resolve("programs.log").toFile()))
                        .start();
        started.add(process);
        return process;
    }

    @Override
    public void close() {
        started.forEach(Process::destroyForcibly);
        started.forEach(process -> process.onExit().join());
    }
}
