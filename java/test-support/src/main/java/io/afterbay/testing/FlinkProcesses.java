package io.afterbay.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A standalone cluster of Flink on this machine, each member a process. */
public final class FlinkProcesses implements AutoCloseable {
    private static final int SLOTS = 2;

    private final Path directory;
    private final String classPath;
    private final String host = OwnHost.address();
    private final int restPort = OwnHost.freePort();
    private final Map<String, Process> members = new TreeMap<>();
    private int logs;

    /**
     * With our class path.
     *
     * @param directory of its files
     */
    public FlinkProcesses(Path directory) throws IOException {
        this(directory, System.getProperty("java.class.path"));
    }

    /**
     * @param directory of its files
     * @param classPath of all members
     */
    public FlinkProcesses(Path directory, String classPath) throws IOException {
        this.directory = directory;
        this.classPath = classPath;
        Files.createDirectories(directory.resolve("conf"));
        Files.writeString(
                directory.resolve("conf/config.yaml"),
                settings().entrySet().stream()
                        .map(one -> "%s: '%s'\n".formatted(one.getKey(), one.getValue()))
                        .collect(Collectors.joining()));
        startJobManager();
    }

    /** Starts the JobManager, or starts it again. */
    public void startJobManager() throws IOException {
        start(
                "jobmanager",
                "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint");
    }

    private Map<String, String> settings() throws IOException {
        Map<String, String> settings = new LinkedHashMap<>();
        for (String key :
                List.of(
                        "jobmanager.rpc.address",
                        "jobmanager.bind-host",
                        "taskmanager.host",
                        "taskmanager.bind-host",
                        "rest.address",
                        "rest.bind-address")) {
            settings.put(key, host);
        }
        settings.put("jobmanager.rpc.port", Integer.toString(OwnHost.freePort()));
        settings.put("rest.port", Integer.toString(restPort));
        settings.put("jobmanager.memory.process.size", "700m");
        settings.put("taskmanager.numberOfTaskSlots", Integer.toString(SLOTS));
        settings.put("taskmanager.cpu.cores", Integer.toString(SLOTS));
        settings.put("taskmanager.memory.task.heap.size", "192m");
        settings.put("taskmanager.memory.task.off-heap.size", "0b");
        settings.put("taskmanager.memory.framework.heap.size", "64m");
        settings.put("taskmanager.memory.framework.off-heap.size", "64m");
        settings.put("taskmanager.memory.managed.size", "64m");
        settings.put("taskmanager.memory.network.min", "48m");
        settings.put("taskmanager.memory.network.max", "48m");
        settings.put("taskmanager.memory.jvm-metaspace.size", "256m");
        settings.put("taskmanager.memory.jvm-overhead.min", "192m");
        settings.put("taskmanager.memory.jvm-overhead.max", "192m");
        settings.put("io.tmp.dirs", directory.resolve("tmp").toString());
        settings.put(
                "execution.checkpointing.dir", directory.resolve("checkpoints").toUri().toString());
        // A killed TaskManager is noticed in seconds, since none answers; a busy one lives on.
        settings.put("heartbeat.interval", "1s");
        settings.put("heartbeat.timeout", "2min");
        settings.put("resourcemanager.standalone.start-up-time", "86400000");
        settings.put("restart-strategy.type", "fixed-delay");
        settings.put("restart-strategy.fixed-delay.attempts", "100");
        settings.put("restart-strategy.fixed-delay.delay", "500ms");
        settings.put("cluster.evenly-spread-out-slots", "true");
        return settings;
    }

    /** HOST:PORT of its REST interface. */
    public String address() {
        return host + ":" + restPort;
    }

    /** Starts a TaskManager, or starts it again. */
    public void startTaskManager(String id) throws IOException {
        start(
                id,
                "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
                "-Dtaskmanager.resource-id=" + id);
    }

    private void start(String name, String main, String... settings) throws IOException {
        List<String> command =
                OwnJvm.command(
                        classPath,
                        main,
                        List.of(
                                "-Xmx400m",
                                "-Dafterbay.log.frames=full",
                                "--add-opens=java.base/java.util=ALL-UNNAMED",
                                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                                "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED"));
        command.addAll(List.of("--configDir", directory.resolve("conf").toString()));
        command.addAll(List.of(settings));
        Files.createDirectories(directory.resolve("tmp"));
        members.put(
                name,
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve(name + "-" + ++logs + ".log").toFile())
                        .start());
    }

    /** kill -9. */
    public void kill(String id) throws InterruptedException {
        Objects.requireNonNull(members.get(id), id).destroyForcibly().waitFor();
    }

    /** The last lines of all logs, for a failed test. */
    public String tails() {
        List<String> tails = new ArrayList<>();
        try (var files = Files.list(directory)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".log")).toList()) {
                List<String> lines = Files.readAllLines(file);
                tails.add(file + ":");
                tails.addAll(lines.subList(Math.max(0, lines.size() - 20), lines.size()));
            }
        } catch (IOException e) {
            tails.add(e.toString());
        }
        return String.join("\n", tails);
    }

    @Override
    public void close() {
        members.values().forEach(Process::destroyForcibly);
        members.values().forEach(member -> member.onExit().join());
    }
}
