package io.afterbay.flink.it.cluster;

import io.afterbay.testing.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A standalone Flink cluster on this machine: a JobManager and some TaskManagers, each a JVM of its
 * own. A highly available one (see {@link ZooKeeper}) may have further JobManagers that stand by.
 */
public final class StandaloneCluster implements AutoCloseable {
    /** Slots of each TaskManager. */
    public static final int SLOTS = 2;

    /** Ports below those that systems give to connections, which may take any at any time. */
    private static final int PORTS_BEGIN = 10_000;

    private static final int PORTS_END = 32_000;

    private final FlinkHome home;
    private final FlinkProcesses processes;
    private final int restPort;
    private final Deque<JobManager> jobManagers = new ArrayDeque<>();
    private final Map<String, JvmProcess> taskManagers = new ConcurrentSkipListMap<>();

    private StandaloneCluster(FlinkHome home, Map<String, String> config) {
        this.home = home;
        this.processes = new FlinkProcesses(home, config);
        this.restPort = Integer.parseInt(config.get("rest.port"));
    }

    /** A process, and the way to it. */
    private record JobManager(JvmProcess process, Rest rest) {}

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
            cluster.startJobManager(cluster.restPort);
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
        config.put("jobmanager.rpc.port", String.valueOf(freePort()));
        config.put("rest.address", "localhost");
        config.put("rest.bind-address", "localhost");
        config.put("rest.port", String.valueOf(freePort()));
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
        // A killed TaskManager is noticed in seconds, since none answers; a busy one lives on.
        config.put("heartbeat.interval", "1s");
        config.put("heartbeat.timeout", "2min");
        // A job waits for slots, however long ago the cluster was started.
        config.put("resourcemanager.standalone.start-up-time", "86400000");
        config.put("restart-strategy.type", "fixed-delay");
        config.put("restart-strategy.fixed-delay.attempts", "20");
        config.put("restart-strategy.fixed-delay.delay", "500ms");
        config.put("cluster.evenly-spread-out-slots", "true");
        config.put("metrics.fetcher.update-interval", "500");
        config.put("web.refresh-interval", "500");
        return config;
    }

    /** A port that is free, and will be when a process is started again. */
    private static int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(PORTS_BEGIN, PORTS_END);
            if (isFree(port)) {
                return port;
            }
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Starts one more JobManager of a highly available cluster. It stands by while another leads.
     */
    public void startJobManager() throws IOException {
        startJobManager(freePort());
    }

    private void startJobManager(int restPort) throws IOException {
        jobManagers.add(new JobManager(processes.jobManager(restPort), new Rest(restPort)));
    }

    /** Starts a TaskManager, or starts it again after it was killed. */
    public void startTaskManager(String id) throws IOException {
        taskManagers.put(id, processes.taskManager(id));
    }

    /**
     * Waits until every JobManager sees the slots of all TaskManagers. One that stands by answers
     * what the leader says.
     */
    public void awaitSlots() throws Exception {
        for (JobManager jobManager : jobManagers) {
            awaitSlots(jobManager);
        }
    }

    private void awaitSlots(JobManager jobManager) throws Exception {
        int slots = taskManagers.size() * SLOTS;
        Await.until(
                () -> "%d slots; there are %d".formatted(slots, jobManager.rest.slots()),
                () -> {
                    if (!jobManager.process.isAlive()) {
                        throw new IllegalStateException("a JobManager ended; see " + home.log());
                    }
                    return jobManager.rest.slots() == slots;
                });
    }

    /** kill -9 of the JobManager that runs longest: it leads. */
    public void killJobManager() throws InterruptedException {
        kill(leader().process);
        jobManagers.remove();
    }

    /** kill -9 of a TaskManager. */
    public void killTaskManager(String id) throws InterruptedException {
        JvmProcess process = taskManagers.remove(id);
        if (process == null || !process.isAlive()) {
            throw new IllegalStateException("no TaskManager %s is running".formatted(id));
        }
        kill(process);
    }

    /** Process ids of the TaskManagers that run; may be called by any thread. */
    public Map<String, Long> taskManagers() {
        Map<String, Long> pids = new TreeMap<>();
        taskManagers.forEach((id, process) -> pids.put(id, process.pid()));
        return pids;
    }

    /** What Flink's configuration says a TaskManager takes in all. */
    public long taskManagerBytes() {
        return processes.taskManagerBytes();
    }

    /**
     * Stops a TaskManager and lets it go on after that time, as a long pause of a collector does.
     */
    public void freezeTaskManager(String id, Duration pause) throws Exception {
        JvmProcess process = Objects.requireNonNull(taskManagers.get(id), id);
        process.signal("STOP");
        try {
            Thread.sleep(pause.toMillis());
        } finally {
            process.signal("CONT");
        }
    }

    private static void kill(JvmProcess process) throws InterruptedException {
        process.kill();
        process.close();
    }

    /**
     * kill -9 of all processes, then starts a JobManager and as many TaskManagers. They load what
     * is in {@code lib} now, and unless the cluster is highly available they know of no job.
     */
    public void restart() throws Exception {
        List<String> ids = List.copyOf(taskManagers.keySet());
        killAll();
        startJobManager(restPort);
        for (String id : ids) {
            startTaskManager(id);
        }
        awaitSlots();
    }

    /**
     * Cancels all jobs that have not ended, so that a highly available cluster forgets them too.
     */
    public void cancelAll() throws Exception {
        for (String job : rest().unfinishedJobs()) {
            rest().cancel(job);
        }
    }

    private void killAll() {
        taskManagers.values().forEach(JvmProcess::close);
        taskManagers.clear();
        jobManagers.forEach(jobManager -> jobManager.process.close());
        jobManagers.clear();
    }

    /** Calls to the JobManager that leads. */
    public Rest rest() {
        return leader().rest;
    }

    private JobManager leader() {
        return jobManagers.element();
    }

    /** Log of the JobManager that leads: of this process, not of those before it. */
    public String jobManagerLog() throws IOException {
        return leader().process.log();
    }

    public FlinkHome home() {
        return home;
    }

    /** Lines of all logs of this cluster's processes that contain a text. */
    public List<String> logLines(String text) throws IOException {
        List<String> found = new ArrayList<>();
        try (var files = Files.list(home.log())) {
            for (Path file : files.sorted().toList()) {
                try (Stream<String> lines = Files.lines(file)) {
                    lines.filter(line -> line.contains(text)).forEach(found::add);
                }
            }
        }
        return found;
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
        return Stream.concat(
                        jobManagers.stream().map(JobManager::process),
                        taskManagers.values().stream())
                .map(JvmProcess::tail)
                .collect(Collectors.joining());
    }

    /** Kills all processes, and deletes all but their logs. */
    @Override
    public void close() {
        killAll();
        home.deleteAllButLogs();
    }
}
