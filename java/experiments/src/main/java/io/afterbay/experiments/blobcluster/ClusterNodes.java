package io.afterbay.experiments.blobcluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.process.WorkerLog;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.JsonProgram;
import io.afterbay.experiments.blob.BlobProcess;
import io.afterbay.experiments.blob.ServerOutput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Three nodes of the blob store on this machine, processes that end with this one. They listen for
 * each other on an address of the loopback network that is this process's alone (all of 127.0.0.0/8
 * is the machine), so that a node that is started again finds its port free. Not for several
 * threads.
 */
final class ClusterNodes implements AutoCloseable {
    static final int COUNT = 3;

    private static final int FIRST_PORT = 20_000;

    /** More of them than nodes spread the load. */
    private static final int PARTITIONS = 2 * COUNT;

    private static final long PAUSE_MILLIS = 100;
    private static final Pattern NATIVE = Pattern.compile("(?m)^native protocol\\s+(\\S+)");
    private static final Pattern READY = Pattern.compile("(?m)^ready$");
    private static final Pattern PARTITION =
            Pattern.compile("(?m)^id = (\\d+)\\nreplicas = \\[(.*)\\]$");

    /** Of a partition, and of one of its segments: what is reserved on the disk of each node. */
    record Sizes(String partition, String segment) {
        /** For seconds of puts. */
        static final Sizes LARGE = new Sizes("8GiB", "64MiB");

        static final Sizes SMALL = new Sizes("256MiB", "8MiB");
    }

    private record Node(Process process, String address) {}

    private final ClusterPlan plan;
    private final BlobProcess programs;
    private final Sizes sizes;
    private final Path home;
    private final SortedMap<Integer, Node> running = new TreeMap<>();

    private ClusterNodes(ClusterPlan plan, BlobProcess programs, Sizes sizes) {
        this.plan = plan;
        this.programs = programs;
        this.sizes = sizes;
        this.home = programs.directory().resolve("cluster");
    }

    /** All nodes, each of which is ready. */
    static ClusterNodes start(ClusterPlan plan, BlobProcess programs, Sizes sizes)
            throws CommandFailure, IOException, InterruptedException {
        ClusterNodes nodes = new ClusterNodes(plan, programs, sizes);
        nodes.make();
        try {
            for (int node = 1; node <= COUNT; node++) {
                nodes.start(node);
            }
            ClusterStatus status = nodes.awaitWhole();
            if (!status.whole()) {
                throw new CommandFailure("new nodes do not become whole: " + status.wrong());
            }
        } catch (CommandFailure | IOException | InterruptedException e) {
            nodes.close();
            throw e;
        }
        return nodes;
    }

    private void make() throws CommandFailure, IOException, InterruptedException {
        Path said = programs.directory().resolve("init.log");
        List<String> command =
                List.of(
                        plan.tools().server(),
                        "cluster",
                        "init",
                        home.toString(),
                        "--nodes=" + COUNT,
                        "--partitions=" + PARTITIONS,
                        "--replicas=" + plan.variant().copies(),
                        "--host=" + host(ProcessHandle.current().pid()),
                        "--port=" + FIRST_PORT);
        Process process =
                new ProcessBuilder(programs.bound(command))
                        .redirectErrorStream(true)
                        .redirectOutput(said.toFile())
                        .start();
        if (process.waitFor() != 0) {
            throw new CommandFailure("the cluster cannot be made" + WorkerLog.lastWords(said));
        }
    }

    /** Of a process, as far as there are addresses. */
    static String host(long pid) {
        return "127.%d.%d.%d".formatted(64 + (pid >> 16) % 64, (pid >> 8) % 256, pid % 256);
    }

    private Path map() {
        return home.resolve("map.toml");
    }

    /** Starts a node that does not run, and returns when it is ready. */
    void start(int node) throws CommandFailure, IOException, InterruptedException {
        String name = "n" + node;
        ServerOutput output = ServerOutput.in(programs.directory(), name);
        List<String> command =
                List.of(
                        plan.tools().server(),
                        "serve",
                        "--cluster=" + map(),
                        "--node=" + name,
                        "--listen=127.0.0.1:0",
                        "--admin=none",
                        "--policy=" + plan.variant().policy(),
                        "--partition-size=" + sizes.partition,
                        "--segment-size=" + sizes.segment);
        Process process = output.start(programs.bound(command), Map.of("RUST_LOG", "warn"));
        try {
            output.await(process, READY);
        } catch (CommandFailure e) {
            throw new CommandFailure(name + ": " + CommandFailure.reason(e), e);
        }
        String address =
                output.find(NATIVE)
                        .orElseThrow(() -> new CommandFailure(name + " does not say its address"));
        running.put(node, new Node(process, address));
    }

    /** With SIGKILL. */
    void kill(int node) throws InterruptedException {
        Node killed = running.remove(node);
        if (killed != null) {
            killed.process.destroyForcibly().waitFor();
        }
    }

    /** All but one. */
    void killOthers(int node) throws InterruptedException {
        for (int other = 1; other <= COUNT; other++) {
            if (other != node) {
                kill(other);
            }
        }
    }

    /** Starts those that do not run. */
    void startOthers() throws CommandFailure, IOException, InterruptedException {
        for (int node = 1; node <= COUNT; node++) {
            if (!running.containsKey(node)) {
                start(node);
            }
        }
    }

    /** What a node that does not run has is deleted. */
    void loseDisk(int node) throws IOException {
        try (Stream<Path> files = Files.walk(home.resolve("n" + node))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /** Partitions of which a node has the only copy. */
    List<Long> onlyOn(int node) throws IOException {
        String only = "\"n%d\"".formatted(node);
        Matcher matcher = PARTITION.matcher(Files.readString(map()));
        return matcher.results()
                .filter(partition -> partition.group(2).equals(only))
                .map(partition -> Long.valueOf(partition.group(1)))
                .toList();
    }

    /** Where clients reach these nodes, which run. */
    String addresses(Collection<Integer> of) {
        return running.entrySet().stream()
                .filter(node -> of.contains(node.getKey()))
                .map(node -> node.getValue().address)
                .collect(Collectors.joining(","));
    }

    /** Of all nodes that run. */
    String addresses() {
        return addresses(running.keySet());
    }

    /** Of all nodes that run, with commas. */
    String pids() {
        return running.values().stream()
                .map(node -> String.valueOf(node.process.pid()))
                .collect(Collectors.joining(","));
    }

    BlobProcess.Key key() throws CommandFailure, IOException {
        return BlobProcess.Key.read(home.resolve("root-key"));
    }

    /** What {@code cluster status} says now. */
    ClusterStatus status() throws CommandFailure, IOException, InterruptedException {
        JsonNode said =
                new JsonProgram(programs.directory())
                        .run(
                                "cluster status",
                                programs.bound(
                                        List.of(
                                                plan.tools().server(),
                                                "cluster",
                                                "status",
                                                "--json",
                                                "--cluster=" + map())),
                                Map.of(),
                                List.of(1));
        return ClusterStatus.of(said);
    }

    /**
     * Returns when nothing is missing anywhere, with the nodes as they are, or after {@link
     * ClusterStatus#WHOLE_SECONDS_MAX} seconds.
     */
    ClusterStatus awaitWhole() throws CommandFailure, IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ClusterStatus.WHOLE_SECONDS_MAX);
        ClusterStatus status = status();
        while (!status.whole() && System.nanoTime() < end) {
            Thread.sleep(PAUSE_MILLIS);
            status = status();
        }
        return status;
    }

    /** Kills all that run. */
    @Override
    public void close() {
        running.values().forEach(node -> node.process.destroyForcibly());
        for (Node node : running.values()) {
            try {
                node.process.waitFor();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
        running.clear();
    }
}
