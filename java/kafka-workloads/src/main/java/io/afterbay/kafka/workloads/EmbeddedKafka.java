package io.afterbay.kafka.workloads;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * A Kafka cluster of one node (KRaft, broker and controller) within this process, which listens on
 * the loopback interface only and forgets everything with its directory. For tests and examples.
 */
public final class EmbeddedKafka implements AutoCloseable {
    private static final int NODE = 1;
    private static final int START_ATTEMPTS = 5;

    private final KafkaRaftServer server;
    private final String bootstrap;
    private final List<Integer> entrances;

    private EmbeddedKafka(KafkaRaftServer server, String bootstrap, List<Integer> entrances) {
        this.server = server;
        this.bootstrap = bootstrap;
        this.entrances = entrances;
    }

    /**
     * Starts one; it takes requests when this returns.
     *
     * @param directory empty, or not there yet; the caller removes it
     * @throws IOException if the directory cannot be written, or no port is to be had
     */
    public static EmbeddedKafka start(Path directory) throws IOException {
        return start(directory, List.of());
    }

    /**
     * The same with an entrance (a listener of its own) behind each of some relays. A client first
     * asks a broker where it is, and then goes there: one that comes through a relay is told the
     * relay's port, so that it stays behind it.
     *
     * @param relays their ports on the loopback interface
     * @see #entrances
     */
    public static EmbeddedKafka start(Path directory, List<Integer> relays) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                return tryStart(directory.resolve("attempt-" + attempt), relays);
            } catch (Exception e) {
                // Somebody else may have taken a port since it was found free.
                if (attempt == START_ATTEMPTS) {
                    throw new IOException(
                            "no Kafka broker could be started in "
                                    + directory
                                    + ": "
                                    + e.getMessage()
                                    + "; see that the disk has room and that processes may listen"
                                    + " on the loopback interface",
                            e);
                }
            }
        }
    }

    private static EmbeddedKafka tryStart(Path directory, List<Integer> relays) throws Exception {
        String host = InetAddress.getLoopbackAddress().getHostAddress();
        String broker = host + ":" + freePort();
        format(directory);
        Map<String, String> settings =
                new HashMap<>(config(directory, broker, host + ":" + freePort()));
        List<Integer> entrances = new ArrayList<>();
        for (int relay : relays) {
            String name = "ENTRANCE" + entrances.size();
            int port = freePort();
            addListener(settings, name, host + ":" + port, host + ":" + relay);
            entrances.add(port);
        }
        KafkaConfig config = new KafkaConfig(settings, false);
        KafkaRaftServer server = new KafkaRaftServer(config, Time.SYSTEM);
        try {
            server.startup();
        } catch (Throwable e) {
            server.shutdown();
            throw e;
        }
        return new EmbeddedKafka(server, broker, List.copyOf(entrances));
    }

    /** One more, which tells its clients another address. */
    private static void addListener(
            Map<String, String> settings, String name, String address, String told) {
        settings.merge("listeners", ",%s://%s".formatted(name, address), String::concat);
        settings.merge("advertised.listeners", ",%s://%s".formatted(name, told), String::concat);
        settings.merge(
                "listener.security.protocol.map", ",%s:PLAINTEXT".formatted(name), String::concat);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void format(Path directory) throws Exception {
        PrintStream nowhere =
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        new Formatter()
                .setPrintStream(nowhere)
                .setNodeId(NODE)
                .setClusterId(Uuid.randomUuid().toString())
                .setControllerListenerName("CONTROLLER")
                .setReleaseVersion(MetadataVersion.latestProduction())
                .addDirectory(directory.toString())
                .setMetadataLogDirectory(directory.toString())
                .run();
    }

    /** One replica of everything, and as little waiting as possible. */
    private static Map<String, String> config(Path directory, String broker, String controller) {
        return Map.ofEntries(
                Map.entry("process.roles", "broker,controller"),
                Map.entry("node.id", String.valueOf(NODE)),
                Map.entry("controller.quorum.voters", NODE + "@" + controller),
                Map.entry("listeners", "BROKER://" + broker + ",CONTROLLER://" + controller),
                Map.entry("advertised.listeners", "BROKER://" + broker),
                Map.entry(
                        "listener.security.protocol.map", "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT"),
                Map.entry("inter.broker.listener.name", "BROKER"),
                Map.entry("controller.listener.names", "CONTROLLER"),
                Map.entry("log.dirs", directory.toString()),
                Map.entry("auto.create.topics.enable", "false"),
                Map.entry("offsets.topic.replication.factor", "1"),
                Map.entry("offsets.topic.num.partitions", "4"),
                Map.entry("transaction.state.log.replication.factor", "1"),
                Map.entry("transaction.state.log.min.isr", "1"),
                Map.entry("transaction.state.log.num.partitions", "4"),
                // Records may have any time: one of 1970 would be gone when the broker looks for
                // such, 30 s after its start.
                Map.entry("log.retention.ms", "-1"),
                Map.entry("log.cleaner.dedupe.buffer.size", "4194304"), // bytes, of the heap
                Map.entry("group.initial.rebalance.delay.ms", "0"),
                Map.entry("group.min.session.timeout.ms", "500"));
    }

    /** HOST:PORT for clients. */
    public String bootstrap() {
        return bootstrap;
    }

    /** Ports of the entrances, one for each relay, in the order of these. */
    public List<Integer> entrances() {
        return entrances;
    }

    /** Returns when the node is down. */
    @Override
    public void close() {
        server.shutdown();
        server.awaitShutdown();
    }
}
