package io.afterbay.storm.it.cluster;

import io.afterbay.storm.it.job.Technique;
import io.afterbay.storm.it.job.WordTopology;
import io.afterbay.testing.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * ZooKeeper, Nimbus, a Supervisor with two workers, and a client, each a process, in namespaces of
 * their own. A daemon that ends is started again, as Storm's documentation wants it. Seen from here
 * they have other process ids than in there; their files are the same.
 */
public final class StormCluster implements AutoCloseable {
    private static final int TAIL_LINES = 40;
    private static final String WORKER = "org.apache.storm.daemon.worker.Worker";
    private static final String LOG_WRITER = "org.apache.storm.LogWriter";
    private static final String PORT = "-Dworker.port=";

    /**
     * The client has the script's input; when it ends, so does the script, and all with it. Until
     * then the script, as the first process, buries orphans.
     */
    private static final String DAEMONS =
            """
            home=$1
            for name in zookeeper nimbus supervisor; do
                while :; do
                    "$home/bin/$name" >>"$home/logs/$name.out.log" 2>&1
                    sleep 0.2
                done &
            done
            "$home/bin/client" 2>>"$home/logs/client.out.log"
            exit
            """;

    private final StormHome home;
    private final Process process;
    private final BufferedReader answers;
    private final PrintWriter requests;

    private StormCluster(StormHome home, Process process) {
        this.home = home;
        this.process = process;
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.requests = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
    }

    /**
     * Starts one, and waits until it takes topologies. Skips the test where namespaces are
     * forbidden.
     *
     * @param directory for all its files; must not be there yet
     */
    public static StormCluster start(Path directory) throws Exception {
        Namespace namespace = Namespace.prerequisite();
        StormHome home = StormHome.create(directory);
        TopologyJar.write(home.topologyJar(), WordTopology.class);
        ProcessBuilder builder =
                new ProcessBuilder(namespace.command(DAEMONS, home.directory().toString()))
                        .redirectError(home.log("namespace").toFile());
        // Of which the Supervisor takes the JVM of its workers.
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().keySet().removeIf(name -> name.startsWith("STORM_"));
        StormCluster cluster = new StormCluster(home, builder.start());
        try {
            Await.until("a Nimbus", () -> cluster.ask("leader").equals(ClusterClient.DONE));
            return cluster;
        } catch (Throwable e) {
            cluster.printLogs(System.err);
            cluster.close();
            throw e;
        }
    }

    /**
     * Submits the topology with a ledger.
     *
     * @param name without a hyphen
     */
    public void submit(String name, Technique technique, Path ledger) throws IOException {
        order("submit %s %s %s".formatted(name, technique, ledger.toAbsolutePath()));
    }

    /**
     * Whether there is a Nimbus that knows the topology and may change it. One that was killed is
     * said to lead until its ZooKeeper session ends.
     */
    public boolean isLed(String topology) throws IOException {
        return ask("activate " + topology).equals(ClusterClient.DONE);
    }

    /** Ends a topology, and waits until its workers have. */
    public void kill(String topology) throws Exception {
        order("kill " + topology);
        Await.until("the end of all workers", () -> workers().isEmpty());
    }

    private void order(String line) throws IOException {
        String answer = ask(line);
        if (!answer.equals(ClusterClient.DONE)) {
            throw new IOException(line + ": " + answer);
        }
    }

    /** One line for one. */
    private synchronized String ask(String line) throws IOException {
        requests.println(line);
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the cluster has ended; its logs are in " + home.path("logs"));
        }
        return answer;
    }

    /** The ports of its workers. */
    public List<Integer> ports() {
        return StormHome.PORTS;
    }

    /** By port; a worker that has just been killed may have been seen for the last time. */
    public Map<Integer, ProcessHandle> workers() throws IOException {
        Map<Integer, ProcessHandle> workers = new TreeMap<>();
        for (ProcessHandle one : processes(WORKER)) {
            arguments(one).stream()
                    .filter(argument -> argument.startsWith(PORT))
                    .findFirst()
                    .ifPresent(
                            port ->
                                    workers.put(
                                            Integer.valueOf(port.substring(PORT.length())), one));
        }
        return workers;
    }

    /** Nimbus or the Supervisor. */
    public enum Daemon {
        NIMBUS("org.apache.storm.daemon.nimbus.Nimbus"),
        SUPERVISOR("org.apache.storm.daemon.supervisor.Supervisor");

        private final String type;

        Daemon(String type) {
            this.type = type;
        }
    }

    /** Its process; there is none for a moment after it was killed. */
    public List<ProcessHandle> daemon(Daemon daemon) throws IOException {
        return processes(daemon.type);
    }

    /** Those of this cluster that run this class. */
    private List<ProcessHandle> processes(String type) throws IOException {
        String ours = "-Dstorm.home=" + home.directory();
        return ProcessHandle.allProcesses()
                .filter(
                        one -> {
                            List<String> arguments = arguments(one);
                            return arguments.contains(ours)
                                    && arguments.contains(type)
                                    && !arguments.contains(LOG_WRITER);
                        })
                .toList();
    }

    /** All of them, which {@link ProcessHandle.Info} cuts off; none of a process that has ended. */
    private static List<String> arguments(ProcessHandle process) {
        try {
            Path file = Path.of("/proc", Long.toString(process.pid()), "cmdline");
            return List.of(Files.readString(file, StandardCharsets.ISO_8859_1).split("\0"));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The ends of all logs, for a failed test. */
    public void printLogs(PrintStream out) throws IOException {
        for (Path log : home.logs()) {
            List<String> lines;
            try (Stream<String> all = Files.lines(log, StandardCharsets.ISO_8859_1)) {
                lines = all.toList();
            }
            out.println("---- " + log);
            lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size())
                    .forEach(out::println);
        }
    }

    /** Returns when all its processes have ended. */
    @Override
    public void close() throws InterruptedException {
        requests.close();
        process.waitFor();
    }
}
