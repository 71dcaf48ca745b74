package io.afterbay.experiments.recovery;

import io.afterbay.cli.engine.EngineSettings;
import io.afterbay.cli.engine.MemorySplit;
import io.afterbay.cli.engine.WorkerLauncher;
import io.afterbay.cli.remote.ClusterAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint;
import org.jspecify.annotations.Nullable;

/**
 * A Flink cluster of several processes: the JobManager is in this one, and each TaskManager in
 * another. The first of them can be killed and started again; a second one, if there is any, goes
 * on.
 */
final class RecoveryCluster implements AutoCloseable {
    private final Map<String, String> settings = new LinkedHashMap<>();
    private final MemorySplit memory;
    private final Path directory;
    private final List<RecoveryMember> members = new ArrayList<>();
    private @Nullable StandaloneSessionClusterEntrypoint jobManager;

    /**
     * @param engine with the memory of a TaskManager that has all tasks
     */
    RecoveryCluster(EngineSettings engine, Path directory, RecoveryPlan plan) {
        this.memory = engine.memory();
        this.directory = directory;
        boolean local = plan.local();
        network();
        memory();
        files();
        restarts();
        settings.put("execution.checkpointing.local-backup.enabled", Boolean.toString(local));
        settings.put("execution.state-recovery.from-local", Boolean.toString(local));
        WorkerLauncher worker = new WorkerLauncher(RecoveryTaskManager.class, engine);
        int all = plan.instances();
        int inFirst = plan.killsAll() ? all : 1;
        members.add(member("taskmanager", worker, inFirst, all));
        if (inFirst < all) {
            members.add(member("taskmanager-that-goes-on", worker, all - inFirst, all));
        }
    }

    private RecoveryMember member(String name, WorkerLauncher worker, int slots, int all) {
        long managedBytes = memory.managed().bytes() * slots / all;
        return new RecoveryMember(name, worker, directory, slots, managedBytes);
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
        settings.put("taskmanager.memory.task.heap.size", memory.heap().bytes() + "b");
        settings.put("taskmanager.memory.task.off-heap.size", "0b");
        settings.put("taskmanager.memory.framework.heap.size", "0b");
        settings.put("taskmanager.memory.framework.off-heap.size", "0b");
        settings.put("taskmanager.memory.jvm-metaspace.size", "0b");
        settings.put("taskmanager.memory.jvm-overhead.min", memory.jvm().bytes() + "b");
        settings.put("taskmanager.memory.jvm-overhead.max", memory.jvm().bytes() + "b");
        settings.put("taskmanager.memory.network.min", memory.network().bytes() + "b");
        settings.put("taskmanager.memory.network.max", memory.network().bytes() + "b");
    }

    private void files() {
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

    /** Starts all of them. */
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
        for (RecoveryMember member : members) {
            member.start();
        }
    }

    ClusterAddress address() {
        if (jobManager == null) {
            throw new IllegalStateException("the JobManager was not started");
        }
        return new ClusterAddress("localhost", jobManager.getRestPort());
    }

    /** The TaskManager that is killed. */
    RecoveryMember victim() {
        return members.get(0);
    }

    /** Whether all TaskManagers are alive. */
    boolean isAlive() {
        return members.stream().allMatch(member -> member.handle().isAlive());
    }

    /** All that the present processes have said. */
    String log() throws IOException {
        StringBuilder log = new StringBuilder();
        for (RecoveryMember member : members) {
            log.append(member.log());
        }
        return log.toString();
    }

    /** Processor time of the TaskManagers that were killed. */
    Duration cpu() {
        return members.stream().map(RecoveryMember::cpu).reduce(Duration.ZERO, Duration::plus);
    }

    /** The JobManager ends with its process. */
    @Override
    public void close() throws InterruptedException {
        for (RecoveryMember member : members) {
            member.kill();
        }
        if (jobManager != null) {
            var unused = jobManager.closeAsync();
        }
    }
}
