package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.link.LinkShape;
import io.afterbay.edge.live.LiveOptions.WholeWay;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.run.EmbeddedFlink;
import io.afterbay.edge.run.ResultRows;
import io.afterbay.edge.run.RunnableJob;
import io.afterbay.edge.run.Tables;
import io.afterbay.testing.Await;
import io.afterbay.testing.RustPrograms;
import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sites send into a topic of a real broker, and Flink reads it with Kafka's own table:
 *
 * <pre>
 *   site0 ── agent ──┐           ┌─ partition 0 ─┐
 *                    ├─ gateway ─┤               ├─ one task of the source ── upper half
 *   site1 ── agent ──┘           └─ partition 1 ─┘
 * </pre>
 */
@Timeout(600)
class TopicRunTest {
    private static final int SITES = 2;
    private static final int ROOMS = 5;
    private static final int MINUTE_S = 60;
    private static final int WINDOW_S = 10;
    private static final String TOPIC = "edge_partials";
    private static final String SERVER = "gateway";
    private static final LocalDateTime START = LocalDateTime.of(2026, 1, 1, 0, 0);
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");

    private static final LiveOptions OPTIONS =
            new LiveOptions(
                    new LinkShape(20_000_000, Duration.ZERO),
                    Duration.ofSeconds(1),
                    Duration.ZERO,
                    null,
                    WholeWay.STREAM);

    private static final String JOB =
            """
            CREATE TABLE reports (room INT, n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
              WITH ('connector' = 'filesystem', 'path' = 'reports', 'format' = 'json');
            SELECT room, window_start, COUNT(*) AS c, SUM(n) AS s
            FROM TABLE(TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND))
            GROUP BY room, window_start, window_end;
            """;

    private final EdgeProgram program = new EdgeProgram(RustPrograms.path("afterbay-edge"));
    private final Map<String, long[]> countAndSum = new TreeMap<>();

    @TempDir private Path directory;

    /** What a site sees of each second of a part of the minute, once in each room. */
    private void see(String site, int fromS, int untilS) throws IOException {
        List<String> lines = new ArrayList<>();
        for (int second = fromS; second < untilS; second++) {
            for (int room = 0; room < ROOMS; room++) {
                long n = 1_000L * second + 10 * room + site.hashCode() % 10;
                LocalDateTime time = START.plusSeconds(second);
                lines.add(
                        "{\"room\": %d, \"n\": %d, \"ts\": \"%s\"}"
                                .formatted(room, n, TIME.format(time)));
                LocalDateTime window = START.plusSeconds(second - second % WINDOW_S);
                long[] sums =
                        countAndSum.computeIfAbsent(
                                room + "," + TIME.format(window), key -> new long[2]);
                sums[0]++;
                sums[1] += n;
            }
        }
        Files.write(input(site), lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private List<String> expected() {
        return countAndSum.entrySet().stream()
                .map(
                        row ->
                                "%s,%d,%d"
                                        .formatted(
                                                row.getKey(), row.getValue()[0], row.getValue()[1]))
                .sorted()
                .toList();
    }

    private Path input(String site) {
        return directory.resolve(site + ".ndjson");
    }

    private static List<String> sites() {
        List<String> sites = new ArrayList<>();
        for (int site = 0; site < SITES; site++) {
            sites.add("site" + site);
        }
        return sites;
    }

    /**
     * A gateway and an agent are killed on the way. A task that reads both partitions has a
     * watermark for each of them; the control, with one behind its source, loses what is late to
     * the partition that is read first.
     */
    @Test
    void aTaskThatReadsTwoPartitionsLosesNoRow() throws Exception {
        RunnableJob job = RunnableJob.of(PlanMaker.plan("job", JOB));
        try (SupervisedProgram broker = startBroker()) {
            String bootstrap = broker.firstLine().strip();
            Map<String, String> table = topicTable(bootstrap);
            PlanJson upper = cut(job.plan(), table, "topic");
            PlanJson withOneWatermark = cut(job.plan(), Tables.json(directory), "file");
            send(bootstrap);

            EmbeddedFlink.run(upper.withSinks(Tables.json(directory.resolve("rows"))));
            assertThat(rows(job, "rows")).isEqualTo(expected()).hasSize(6 * ROOMS);

            EmbeddedFlink.run(
                    withOneWatermark
                            .withSource(TOPIC, table)
                            .withSinks(Tables.json(directory.resolve("control"))));
            assertThat(rows(job, "control")).isNotEqualTo(expected());
        }
    }

    private List<String> rows(RunnableJob job, String folder) throws IOException {
        return ResultRows.read(job.sink(), directory.resolve(folder)).csv();
    }

    private SupervisedProgram startBroker() throws IOException {
        Path target = Path.of("..", "kafka-workloads", "target").toAbsolutePath().normalize();
        String classPath =
                target.resolve("classes")
                        + File.pathSeparator
                        + Files.readString(target.resolve("classpath.txt")).strip();
        return SupervisedProgram.once(
                "broker",
                new KafkaPrograms("", classPath).broker(directory.resolve("kafka"), List.of()),
                directory);
    }

    private static Map<String, String> topicTable(String bootstrap) {
        return Map.of(
                "connector", "kafka",
                "topic", TOPIC,
                "properties.bootstrap.servers", bootstrap,
                "properties.isolation.level", "read_committed",
                "scan.startup.mode", "earliest-offset",
                "scan.bounded.mode", "latest-offset",
                "format", "json");
    }

    /** As the guide says it; returns the upper half. */
    private PlanJson cut(PlanJson plan, Map<String, String> table, String name) throws Exception {
        Path whole = Files.writeString(directory.resolve(name + ".json"), plan.toString());
        Path upper = directory.resolve(name + "-upper.json");
        List<String> arguments = new ArrayList<>(List.of("cut", "--plan", whole.toString()));
        arguments.addAll(List.of("--lower", lower().toString(), "--upper", upper.toString()));
        table.forEach(
                (option, value) ->
                        arguments.addAll(List.of("--table-option", option + "=" + value)));
        program.run(directory.resolve(name + ".txt"), arguments);
        return PlanJson.parse(Files.readString(upper));
    }

    private Path lower() {
        return directory.resolve("lower.json");
    }

    /** All that the sites see goes into the topic, whoever is killed. */
    private void send(String bootstrap) throws Exception {
        createKeys();
        List<SupervisedProgram> agents = new ArrayList<>();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
                SupervisedProgram gateway = startGateway(bootstrap);
                LinkTrouble links = new LinkTrouble(OPTIONS.play(), OPTIONS.outage())) {
            gateway.firstLine();
            for (String site : sites()) {
                see(site, 0, MINUTE_S / 2);
                agents.add(startAgent(site, links.open(site, () -> port(gateway), OPTIONS)));
            }
            Await.until(
                    "rows in each partition",
                    () -> {
                        look(gateway, agents);
                        return hasRowsInEachPartition(admin);
                    });
            gateway.kill();
            agents.get(0).kill();
            Await.until(
                    "both are started again",
                    () -> {
                        look(gateway, agents);
                        return gateway.kills() == 1 && agents.get(0).kills() == 1;
                    });
            for (String site : sites()) {
                see(site, MINUTE_S / 2, MINUTE_S);
                Files.createFile(GrowingFile.endOf(input(site)));
            }
            Await.until("all is sent", () -> look(gateway, agents));
        } finally {
            agents.forEach(SupervisedProgram::close);
        }
    }

    /** Starts again who was killed. Returns whether all agents have ended. */
    private static boolean look(SupervisedProgram gateway, List<SupervisedProgram> agents)
            throws Exception {
        gateway.look();
        boolean all = true;
        for (SupervisedProgram agent : agents) {
            all &= agent.look();
        }
        return all;
    }

    private static boolean hasRowsInEachPartition(Admin admin) throws Exception {
        if (!admin.listTopics().names().get().contains(TOPIC)) {
            return false;
        }
        Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
        for (int partition = 0; partition < SITES; partition++) {
            ends.put(new TopicPartition(TOPIC, partition), OffsetSpec.latest());
        }
        return admin.listOffsets(ends).all().get().values().stream()
                .allMatch(end -> end.offset() > 0);
    }

    private void createKeys() throws Exception {
        Path said = directory.resolve("keys.txt");
        List<String> certificate = new ArrayList<>(List.of("certificate", "--name", SERVER));
        certificate.addAll(List.of("--cert", certificate(), "--key", serverKey()));
        program.run(said, certificate);
        Files.createDirectory(directory.resolve("keys"));
        for (String site : sites()) {
            program.run(said, List.of("key", "create", site, "--out", key(site)));
        }
    }

    private String certificate() {
        return directory.resolve("server.pem").toString();
    }

    private String serverKey() {
        return directory.resolve("server-key.pem").toString();
    }

    private String key(String site) {
        return directory.resolve("keys").resolve(site + ".key").toString();
    }

    private SupervisedProgram startGateway(String bootstrap) throws IOException {
        List<String> command = new ArrayList<>(program.command("gateway", "--while-stdin-open"));
        command.addAll(List.of("--listen", "127.0.0.1:0", "--admin", "none"));
        command.addAll(List.of("--tls-cert", certificate(), "--tls-key", serverKey()));
        command.addAll(List.of("--keys", directory.resolve("keys").toString()));
        command.addAll(List.of("--bootstrap", bootstrap, "--partitions", String.valueOf(SITES)));
        return SupervisedProgram.restarted("gateway", command, directory);
    }

    /** Each process of the gateway has another one. */
    private static int port(SupervisedProgram gateway) throws IOException {
        String said = gateway.lineSoFar();
        if (said == null) {
            throw new ConnectException("the gateway does not say yet where it listens");
        }
        String address = new ObjectMapper().readTree(said).path("listen").asText();
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    private SupervisedProgram startAgent(String site, int port) throws IOException {
        List<String> command = new ArrayList<>(program.command("agent", "--while-stdin-open"));
        command.addAll(List.of("--site", site, "--plan", lower().toString()));
        command.addAll(List.of("--input", input(site).toString(), "--follow"));
        command.addAll(List.of("--data", directory.resolve("data-" + site).toString()));
        command.addAll(List.of("--gateway", "127.0.0.1:" + port, "--tls-server-name", SERVER));
        command.addAll(List.of("--tls-roots", certificate(), "--key-file", key(site)));
        return SupervisedProgram.restarted("agent-" + site, command, directory);
    }
}
