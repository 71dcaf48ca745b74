package io.afterbay.flink.it.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessSpec;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;
import org.apache.flink.runtime.jobmanager.JobManagerProcessSpec;
import org.apache.flink.runtime.jobmanager.JobManagerProcessUtils;
import org.apache.flink.runtime.util.config.memory.ProcessMemoryUtils;

/**
 * A standalone Flink cluster on this machine: one JobManager and some TaskManagers, each a JVM of
 * its own, with the JVM options and dynamic properties that Flink's start scripts would compute
 * from the same {@code config.yaml}.
 */
public final class StandaloneCluster implements AutoCloseable {
    /** Slots of each TaskManager. */
    public static final int SLOTS = 2;

    private static final Duration START_LIMIT = Duration.ofMinutes(2);

    private final FlinkHome home;
    private final Configuration config;
    private final Rest rest;
    private final Map<String, JvmProcess> taskManagers = new TreeMap<>();
    private JvmProcess jobManager;
    private int starts;

    private StandaloneCluster(FlinkHome home, Map<String, String> config) {
        this.home = home;
        this.config = Configuration.fromMap(config);
        this.rest = new Rest(Integer.parseInt(config.get("rest.port")));
    }

    /**
     * Starts a cluster and waits until its slots are there.
     *
     * @param name of its folder
     * @param withBackend whether our jar is in {@code lib}
     * @param extra lines of {@code config.yaml} beside those that every cluster here has
     */
    public static StandaloneCluster start(
            String name, boolean withBackend, int taskManagers, Map<String, String> extra)
            throws Exception {
        Path root = Files.createTempDirectory(Files.createDirectories(Artifacts.workDir()), name);
        FlinkHome home = FlinkHome.create(root.toAbsolutePath(), withBackend);
        Map<String, String> config = config(home);
        config.putAll(extra);
        home.writeConfig(config);
        StandaloneCluster cluster = new StandaloneCluster(home, config);
        try {
            cluster.startJobManager();
            for (int i = 1; i <= taskManagers; i++) {
                cluster.startTaskManager("tm-" + i);
            }
            cluster.awaitSlots();
            return cluster;
        } catch (Throwable e) {
            System.err.println(cluster.tails());
            cluster.close();
            throw e;
        }
    }

    private static Map<String, String> config(FlinkHome home) throws IOException {
        Map<String, String> config = new LinkedHashMap<>();
        for (String bind : List.of("jobmanager.bind-host", "taskmanager.bind-host")) {
            config.put(bind, "localhost");
        }
        for (String address : List.of("jobmanager.rpc.address", "taskmanager.host")) {
            config.put(address, "localhost");
        }
        config.put("jobmanager.rpc.port", freePort());
        config.put("rest.address", "localhost");
        config.put("rest.bind-address", "localhost");
        config.put("rest.port", freePort());
        config.put("taskmanager.numberOfTaskSlots", String.valueOf(SLOTS));
        config.put("jobmanager.memory.heap.size", "192m");
        config.put("taskmanager.memory.task.heap.size", "192m");
        config.put("taskmanager.memory.managed.size", "128m");
        config.put("taskmanager.memory.network.min", "48m");
        config.put("taskmanager.memory.network.max", "48m");
        config.put("io.tmp.dirs", home.root().resolve("tmp").toString());
        config.put("execution.checkpointing.dir", home.checkpoints().toUri().toString());
        config.put("execution.checkpointing.interval", "1s");
        config.put(
                "execution.checkpointing.externalized-checkpoint-retention",
                "RETAIN_ON_CANCELLATION");
        // A killed TaskManager is noticed and its work restarted in seconds.
        config.put("heartbeat.interval", "1s");
        config.put("heartbeat.timeout", "20s");
        config.put("restart-strategy.type", "fixed-delay");
        config.put("restart-strategy.fixed-delay.attempts", "20");
        config.put("restart-strategy.fixed-delay.delay", "500ms");
        config.put("cluster.evenly-spread-out-slots", "true");
        config.put("metrics.fetcher.update-interval", "500");
        config.put("web.refresh-interval", "500");
        return config;
    }

    private static String freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return String.valueOf(socket.getLocalPort());
        }
    }

    private void startJobManager() throws IOException {
        JobManagerProcessSpec spec = JobManagerProcessUtils.processSpecFromConfig(config);
        jobManager =
                launch(
                        "jobmanager",
                        JobManagerProcessUtils.generateJvmParametersStr(spec, config),
                        "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
                        JobManagerProcessUtils.generateDynamicConfigsStr(spec));
    }

    /** Starts a TaskManager, or starts it again after it was killed. */
    public void startTaskManager(String id) throws IOException {
        TaskExecutorProcessSpec spec = TaskExecutorProcessUtils.processSpecFromConfig(config);
        taskManagers.put(
                id,
                launch(
                        id,
                        ProcessMemoryUtils.generateJvmParametersStr(spec),
                        "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
                        TaskExecutorProcessUtils.generateDynamicConfigsStr(spec)
                                + " -D taskmanager.resource-id="
                                + id));
    }

    private JvmProcess launch(String name, String jvmOptions, String main, String properties)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(FlinkHome.java()));
        command.addAll(words(jvmOptions));
        command.addAll(FlinkHome.JAVA_OPTIONS);
        command.add("-Dlog4j.configurationFile=file:" + home.conf().resolve("log4j.properties"));
        command.addAll(List.of("-classpath", home.lib() + "/*", main));
        command.addAll(List.of("--configDir", home.conf().toString()));
        command.addAll(words(properties));
        Path log = home.log().resolve("%s.%d.log".formatted(name, ++starts));
        return JvmProcess.start(name, home.root(), command, log);
    }

    private static List<String> words(String line) {
        return Arrays.stream(line.trim().split("\\s+")).toList();
    }

    /** Waits until all TaskManagers have registered their slots. */
    public void awaitSlots() throws Exception {
        int slots = taskManagers.size() * SLOTS;
        Await.until(
                START_LIMIT,
                () -> "%d slots; there are %d".formatted(slots, rest.slots()),
                () -> {
                    checkAlive();
                    return rest.slots() == slots;
                });
    }

    private void checkAlive() {
        if (!jobManager.isAlive()) {
            throw new IllegalStateException("the JobManager ended; see " + home.log());
        }
    }

    /** kill -9 of a TaskManager. */
    public void killTaskManager(String id) throws InterruptedException {
        JvmProcess process = taskManagers.remove(id);
        if (process == null || !process.isAlive()) {
            throw new IllegalStateException("no TaskManager %s is running".formatted(id));
        }
        process.kill();
        process.close();
    }

    /** Stops and starts all processes, in order that they load what is in {@code lib} now. */
    public void restart() throws Exception {
        List<String> ids = List.copyOf(taskManagers.keySet());
        close();
        startJobManager();
        for (String id : ids) {
            startTaskManager(id);
        }
        awaitSlots();
    }

    public Rest rest() {
        return rest;
    }

    public FlinkHome home() {
        return home;
    }

    /** Text of all logs of this cluster's processes. */
    public String logs() throws IOException {
        StringBuilder all = new StringBuilder();
        try (var files = Files.list(home.log())) {
            for (Path file : files.sorted().toList()) {
                all.append(Files.readString(file));
            }
        }
        return all.toString();
    }

    /** The ends of the logs, for a failed test. */
    public String tails() {
        return (jobManager == null ? "" : jobManager.tail())
                + taskManagers.values().stream()
                        .map(JvmProcess::tail)
                        .collect(Collectors.joining());
    }

    @Override
    public void close() {
        taskManagers.values().forEach(JvmProcess::close);
        taskManagers.clear();
        if (jobManager != null) {
            jobManager.close();
        }
    }
}
