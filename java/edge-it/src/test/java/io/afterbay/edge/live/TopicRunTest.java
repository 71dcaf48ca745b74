package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.ExitCode;
import io.afterbay.edge.EdgeProcess;
import io.afterbay.edge.EdgeProcess.Answer;
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
import io.afterbay.testing.FlinkProcesses;
import io.afterbay.testing.OwnJvm;
import io.afterbay.testing.RustPrograms;
import io.afterbay.testing.TestForm;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The job of a script that reads a topic of Kafka is cut. Its sites send into another topic, of a
 * real broker, and Flink reads that with Kafka's own table:
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
            CREATE TABLE reports (
              room INT, n BIGINT, ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts
            ) WITH (
              'connector' = 'kafka', 'topic' = 'reports', 'format' = 'json',
              'properties.bootstrap.servers' = 'of-the-uncut-job:9092'
            );
            SELECT room, window_start, COUNT(*) AS c, SUM(n) AS s
            FROM TABLE(TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND))
            GROUP BY room, window_start, window_end;
            """;

    private final EdgeProgram program = new EdgeProgram(RustPrograms.path("afterbay-edge"));

    @TempDir private Path directory;

    /** What a site sees of each second of a part of the minute, once in each room. */
    private void see(int site, int fromS, int untilS) throws IOException {
        List<String> lines = new ArrayList<>();
        for (int second = fromS; second < untilS; second++) {
            for (int room = 0; room < ROOMS; room++) {
                lines.add(
                        "{\"room\": %d, \"n\": %d, \"ms\": %d}"
                                .formatted(room, n(site, room, second), ms(second)));
            }
        }
        Files.write(input(site), lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private static long n(int site, int room, int second) {
        return 1_000L * second + 10 * room + site;
    }

    private static long ms(int second) {
        return START.plusSeconds(second).toInstant(ZoneOffset.UTC).toEpochMilli();
    }

    private static String time(int second) {
        return TIME.format(START.plusSeconds(second));
    }

    private static List<String> expected() {
        List<String> rows = new ArrayList<>();
        for (int room = 0; room < ROOMS; room++) {
            for (int window = 0; window < MINUTE_S; window += WINDOW_S) {
                long sum = 0;
                for (int second = window; second < window + WINDOW_S; second++) {
                    for (int site = 0; site < SITES; site++) {
                        sum += n(site, room, second);
                    }
                }
                rows.add("%d,%s,%d,%d".formatted(room, time(window), SITES * WINDOW_S, sum));
            }
        }
        return rows;
    }

    private static String name(int site) {
        return "site" + site;
    }

    private Path input(int site) {
        return directory.resolve(name(site) + ".ndjson");
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
            assertThat(rows(job, "control")).isNotEmpty().isNotEqualTo(expected());
        }
    }

    /**
     * As its user types it, with a broker and a cluster of the user's, on which there is nothing of
     * ours and no Kafka. A gateway is killed on the way, too, before Flink in the verb's own
     * process reads.
     */
    @Test
    void aJobRunsOnTheKafkaAndTheFlinkOfItsUser() throws Exception {
        for (int site = 0; site < SITES; site++) {
            see(site, 0, MINUTE_S);
        }
        Path job = Files.writeString(directory.resolve("job.sql"), JOB);
        Path rows = directory.resolve("rows.csv");
        try (SupervisedProgram broker = startBroker();
                FlinkProcesses flink =
                        new FlinkProcesses(directory.resolve("flink"), flinksOwnClassPath())) {
            flink.startTaskManager("tm");
            String bootstrap = broker.firstLine().strip();
            List<String> run = new ArrayList<>(List.of("run", job.toString(), "--play", "1s"));
            run.addAll(List.of("--sites", directory.toString(), "--bootstrap", bootstrap));
            Answer none = EdgeProcess.withoutKafka(directory, run.toArray(String[]::new));
            assertThat(none.code()).as(none.out() + none.err()).isEqualTo(ExitCode.FAILURE);
            assertThat(none.err())
                    .contains(
                            "--bootstrap " + bootstrap, "no connector or format 'kafka'", "--jar");

            run.addAll(EdgeProcess.kafkaJars());
            run.addAll(List.of("--output", rows.toString()));
            awaitCluster(flink);
            run.addAll(List.of("--kill", "gateway"));
            if (TestForm.IS_LONG) {
                assertRuns(run, rows, bootstrap, flink);
            }
            run.addAll(List.of("--on", flink.address()));
            assertRuns(run, rows, bootstrap, flink);
            assertThat(told(flink, "/jobs/overview").findValuesAsText("state"))
                    .containsExactly("FINISHED");
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
                assertThat(admin.listTopics().names().get())
                        .noneMatch(topic -> topic.startsWith("afterbay-"));
            }
        }
    }

    private void assertRuns(List<String> run, Path rows, String bootstrap, FlinkProcesses flink)
            throws Exception {
        Files.deleteIfExists(rows);
        Answer answer = EdgeProcess.withoutKafka(directory, run.toArray(String[]::new));
        assertThat(answer.code())
                .as(answer.out() + answer.err() + flink.tails())
                .isEqualTo(ExitCode.OK);
        assertThat(answer.out())
                .contains("rows equal: 30\n", "a topic at " + bootstrap, "the gateway 1 times");
        assertThat(Files.readAllLines(rows)).isEqualTo(expected());
    }

    /** Without our modules, and without the connector of Kafka. */
    private static String flinksOwnClassPath() throws Exception {
        List<Path> kafka = EdgeProcess.connector();
        Path modules = Path.of("..").toRealPath();
        return OwnJvm.classPathWithout(place -> place.startsWith(modules) || kafka.contains(place));
    }

    private static void awaitCluster(FlinkProcesses flink) throws Exception {
        Await.until(
                "a free slot",
                () -> {
                    try {
                        return told(flink, "/overview").path("slots-available").asInt() > 0;
                    } catch (IOException e) {
                        return false; // not yet
                    }
                });
    }

    private static JsonNode told(FlinkProcesses flink, String path) throws Exception {
        URI address = URI.create("http://%s%s".formatted(flink.address(), path));
        HttpResponse<String> answer =
                HttpClient.newHttpClient()
                        .send(
                                HttpRequest.newBuilder(address).build(),
                                HttpResponse.BodyHandlers.ofString());
        return new ObjectMapper().readTree(answer.body());
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
        List<String> names = IntStream.range(0, SITES).mapToObj(TopicRunTest::name).toList();
        SitePrograms programs = new SitePrograms(program, names, directory);
        List<String> output =
                List.of("--bootstrap", bootstrap, "--partitions", String.valueOf(SITES));
        List<SupervisedProgram> agents = new ArrayList<>();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
                SupervisedProgram gateway = programs.startGateway(output);
                LinkTrouble links = new LinkTrouble(OPTIONS.play(), OPTIONS.outage())) {
            gateway.firstLine();
            for (int site = 0; site < SITES; site++) {
                see(site, 0, MINUTE_S / 2);
                int port = links.open(name(site), () -> SitePrograms.port(gateway), OPTIONS);
                List<String> reads = List.of("--input", input(site).toString(), "--follow");
                agents.add(programs.startAgent(name(site), lower(), port, reads));
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
            for (int site = 0; site < SITES; site++) {
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
}
