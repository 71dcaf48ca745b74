package io.afterbay.experiments.replay;

import io.afterbay.cli.process.KafkaClassPath;
import io.afterbay.cli.process.ModuleClassPath;
import io.afterbay.cli.process.WorkerJvm;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.Installation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The processes of a run: broker, traffic, and the command line as users have it. All end with this
 * one.
 */
final class Programs implements AutoCloseable {
    private static final ModuleClassPath PROFILES = new ModuleClassPath("flink-kafka-workloads");
    private static final String PACKAGE = "io.afterbay.flink.kafka.workloads.";
    private static final long SAMPLE_MS = 250;

    private final Path directory;
    private final List<Program> started = new ArrayList<>();
    private final Map<Long, Duration> cpu = new ConcurrentHashMap<>();
    private final Thread sampler = new Thread(this::sample, "processors");

    /**
     * @param directory of their files
     */
    Programs(Path directory) {
        this.directory = directory;
        sampler.setDaemon(true);
        sampler.start();
    }

    /** What they use cannot be asked for when they have ended. */
    private void sample() {
        try {
            while (true) {
                ProcessHandle.current()
                        .descendants()
                        .forEach(
                                one ->
                                        one.info()
                                                .totalCpuDuration()
                                                .ifPresent(used -> cpu.put(one.pid(), used)));
                Thread.sleep(SAMPLE_MS);
            }
        } catch (InterruptedException e) {
            // Nobody asks any more.
        }
    }

    /** Processor time of all of them. */
    Duration cpu() {
        return cpu.values().stream().reduce(Duration.ZERO, Duration::plus);
    }

    /** A broker; its first line is its HOST:PORT. */
    Program broker() throws CommandFailure, IOException {
        return start(
                "broker",
                List.of("-Xmx400m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                KafkaClassPath.read(),
                "io.afterbay.kafka.workloads.BrokerProcess",
                List.of(directory.resolve("kafka").toString()));
    }

    /** The process with the profiles, which hands over by a directory. */
    Program traffic(Path handover) throws CommandFailure, IOException {
        return start(
                "traffic",
                List.of("-Xmx512m"),
                PROFILES.read(),
                PACKAGE + "ProfileTraffic",
                List.of(handover.toString()));
    }

    /** Packs the live job's jar. */
    void pack(Path jar) throws CommandFailure, IOException, InterruptedException {
        start(
                        "jar",
                        List.of("-Xmx128m"),
                        PROFILES.read(),
                        PACKAGE + "JobJar",
                        List.of(jar.toString()))
                .end();
    }

    /** {@code ./afterbay ARGUMENTS}. */
    Program afterbay(String name, List<String> arguments) throws CommandFailure, IOException {
        return start(
                name,
                List.of(
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-Dafterbay.home=" + Installation.home()),
                System.getProperty("java.class.path"),
                OwnAfterbay.class.getName(),
                arguments);
    }

    private Program start(
            String name,
            List<String> options,
            String classPath,
            String main,
            List<String> arguments)
            throws CommandFailure, IOException {
        List<String> command = new ArrayList<>(WorkerJvm.command(options));
        command.addAll(List.of("-Djava.io.tmpdir=" + directory, "-cp", classPath, main));
        command.addAll(arguments);
        Program program = Program.start(name, command, directory.resolve(name + ".log"));
        started.add(program);
        return program;
    }

    /** Kills those that are left. */
    @Override
    public void close() throws InterruptedException {
        for (Program program : started) {
            program.close();
        }
        sampler.interrupt();
    }
}
