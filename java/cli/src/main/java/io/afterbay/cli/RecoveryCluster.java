package io.afterbay.cli;

import io.afterbay.cli.remote.ClusterAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint;
import org.jspecify.annotations.Nullable;

/**
 * A Flink cluster of two processes: the JobManager is in this one, and the TaskManager in another,
 * which can be killed and started again in its working directory, under its name.
 */
final class RecoveryCluster implements AutoCloseable {
    private static final String TASK_MANAGER = "afterbay-recovery";
    private static final long END_SECONDS_MAX = 60;

    private final Map<String, String> settings = new LinkedHashMap<>();
    private final EngineArguments arguments;
    private final MemorySplit memory;
    private final Path directory;
    private @Nullable StandaloneSessionClusterEntrypoint jobManager;
    private @Nullable Process taskManager;
    private int started;
    private Duration cpu = Duration.ZERO;

    /**
     * @param memory of the TaskManager
     * @param local whether its disk keeps copies of the state for recovery
     */
    RecoveryCluster(EngineArguments arguments, MemorySplit memory, Path directory, boolean local) {
        this.arguments = arguments;
        this.memory = memory;
        this.directory = directory;
        network();
        memory();
        files();
        restarts();
        settings.put("execution.checkpointing.local-backup.enabled", Boolean.toString(local));
        settings.put("execution.state-recovery.from-local", Boolean.toString(local));
    }

    private void network() {
        for (String key :
                List.of(
                        "jobmanager.rpc.address",
                        "jobmanager.bind-host",
                        "taskmanager.host",
                        "taskmanager.bind-host",
                        "rest.address",
                        "rest.bind-address")) {
            settings.put(key, "localhost");
        }
        settings.put("jobmanager.rpc.port", "0");
        settings.put("rest.port", "0");
        settings.put("rest.bind-port", "0");
        settings.put("metrics.fetcher.update-interval", "500");
    }

    /** All sizes have to be given, though the flags of the process count, not these. */
    private void memory() {
        settings.put("taskmanager.numberOfTaskSlots", Integer.toString(arguments.parallelism));
        settings.put("taskmanager.cpu.cores", Integer.toString(arguments.parallelism));
        settings.put("taskmanager.memory.task.heap.size", memory.heap().bytes() + "b");
        settings.put("taskmanager.memory.task.off-heap.size", "0b");
        settings.put("taskmanager.memory.managed.size", memory.managed().bytes() + "b");
        settings.put("taskmanager.memory.framework.heap.size", "0b");
        settings.put("taskmanager.memory.framework.off-heap.size", "0b");
        settings.put("taskmanager.memory.jvm-metaspace.size", "0b");
        settings.put("taskmanager.memory.jvm-overhead.min", memory.jvm().bytes() + "b");
        settings.put("taskmanager.memory.jvm-overhead.max", memory.jvm().bytes() + "b");
        settings.put("taskmanager.memory.network.min", memory.network().bytes() + "b");
        settings.put("taskmanager.memory.network.max", memory.network().bytes() + "b");
    }

    private void files() {
        settings.put("taskmanager.resource-id", TASK_MANAGER);
        settings.put(
                "process.taskmanager.working-dir", directory.resolve("taskmanager").toString());
        settings.put("process.jobmanager.working-dir", directory.resolve("jobmanager").toString());
        settings.put("io.tmp.dirs", directory.resolve("tmp").toString());
        settings.put(
                "execution.checkpointing.dir", directory.resolve("checkpoints").toUri().toString());
    }

    /** The job waits for its TaskManager as long as it takes. */
    private void restarts() {
        settings.put("heartbeat.interval", "1s");
        settings.put("heartbeat.timeout", "20s");
        settings.put("resourcemanager.standalone.start-up-time", "86400000");
        settings.put("restart-strategy.type", "fixed-delay");
        settings.put("restart-strategy.fixed-delay.attempts", "100");
        settings.put("restart-strategy.fixed-delay.delay", "200ms");
    }

    /** Starts both processes. */
    void start() throws Exception {
        Files.createDirectories(directory.resolve("tmp"));
        StandaloneSessionClusterEntrypoint manager =
                new StandaloneSessionClusterEntrypoint(Configuration.fromMap(settings));
        manager.startCluster();
        jobManager = manager;
        settings.put("jobmanager.rpc.port", Integer.toString(manager.getRpcPort()));
        settings.put("rest.port", Integer.toString(manager.getRestPort()));
        Files.writeString(
                Files.createDirectories(directory.resolve("conf")).resolve("config.yaml"),
                settings.entrySet().stream()
                        .map(one -> "%s: '%s'\n".formatted(one.getKey(), one.getValue()))
                        .collect(Collectors.joining()));
        startTaskManager();
    }

    ClusterAddress address() {
        if (jobManager == null) {
            throw new IllegalStateException("the JobManager was not started");
        }
        return new ClusterAddress("localhost", jobManager.getRestPort());
    }

    /** Starts it, for the first time or again. */
    void startTaskManager() throws IOException {
        started++;
        taskManager =
                new WorkerProcess(arguments, memory)
                        .builder(
                                directory.resolve("tmp"),
                                List.of(
                                        "-Dafterbay.log.restore=DEBUG",
                                        "-Dafterbay.log.frames=full"),
                                RecoveryTaskManager.class,
                                List.of("--configDir", directory.resolve("conf").toString()))
                        .redirectErrorStream(true)
                        .redirectOutput(log(started).toFile())
                        .start();
    }

    private Path log(int number) {
        return directory.resolve("taskmanager-" + number + ".log");
    }

    /** All that the present TaskManager has said. */
    String log() throws IOException {
        return Files.exists(log(started)) ? Files.readString(log(started)) : "";
    }

    /** The present one. */
    ProcessHandle taskManager() {
        if (taskManager == null) {
            throw new IllegalStateException("no TaskManager was started");
        }
        return taskManager.toHandle();
    }

    /** Ends it by SIGKILL. */
    void killTaskManager() throws InterruptedException {
        Process running = taskManager;
        if (running != null) {
            cpu = cpu.plus(running.info().totalCpuDuration().orElse(Duration.ZERO));
            running.destroyForcibly();
            if (!running.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a killed TaskManager goes on");
            }
        }
    }

    /** Processor time of the TaskManagers that were killed. */
    Duration cpu() {
        return cpu;
    }

    /** The JobManager ends with its process. */
    @Override
    public void close() throws InterruptedException {
        killTaskManager();
        if (jobManager != null) {
            var unused = jobManager.closeAsync();
        }
    }
}
