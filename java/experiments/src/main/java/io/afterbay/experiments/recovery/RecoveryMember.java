package io.afterbay.experiments.recovery;

import io.afterbay.cli.engine.WorkerLauncher;
import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A TaskManager of a {@link RecoveryCluster} in a process of its own, which can be killed and
 * started again in its working directory, under its name.
 */
final class RecoveryMember {
    private static final long END_SECONDS_MAX = 60;

    private final String name;
    private final WorkerLauncher worker;
    private final Path directory;
    private final List<String> settings = new ArrayList<>();
    private @Nullable Process process;
    private int started;
    private Duration cpu = Duration.ZERO;

    /**
     * @param worker how its process is started
     * @param directory of the cluster
     * @param managedBytes memory that Flink manages in it
     */
    RecoveryMember(
            String name, WorkerLauncher worker, Path directory, int slots, long managedBytes) {
        this.name = name;
        this.worker = worker;
        this.directory = directory;
        set(
                Map.of(
                        "taskmanager.resource-id", "afterbay-" + name,
                        "taskmanager.numberOfTaskSlots", Integer.toString(slots),
                        "taskmanager.cpu.cores", Integer.toString(slots),
                        "taskmanager.memory.managed.size", managedBytes + "b",
                        "process.taskmanager.working-dir", directory.resolve(name).toString()));
    }

    private void set(Map<String, String> values) {
        values.forEach((key, value) -> settings.add("-D" + key + "=" + value));
    }

    /** Starts it, for the first time or again, with the configuration in {@code conf}. */
    void start() throws IOException, CommandFailure {
        started++;
        List<String> words = new ArrayList<>();
        words.addAll(List.of("--configDir", directory.resolve("conf").toString()));
        words.addAll(settings);
        process =
                worker.builder(
                                directory.resolve("tmp"),
                                List.of(
                                        "-Dafterbay.log.restore=DEBUG",
                                        "-Dafterbay.log.frames=full"),
                                words)
                        .redirectErrorStream(true)
                        .redirectOutput(log(started).toFile())
                        .start();
    }

    private Path log(int number) {
        return directory.resolve(name + "-" + number + ".log");
    }

    /** All that the present process has said. */
    String log() throws IOException {
        return Files.exists(log(started)) ? Files.readString(log(started)) : "";
    }

    /** The present process. */
    ProcessHandle handle() {
        if (process == null) {
            throw new IllegalStateException(name + " was not started");
        }
        return process.toHandle();
    }

    /** Ends it by SIGKILL. */
    void kill() throws InterruptedException {
        Process running = process;
        if (running != null) {
            cpu = cpu.plus(running.info().totalCpuDuration().orElse(Duration.ZERO));
            running.destroyForcibly();
            if (!running.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a killed TaskManager goes on");
            }
        }
    }

    /** Processor time of the processes that were killed. */
    Duration cpu() {
        return cpu;
    }
}
