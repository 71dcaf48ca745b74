package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.link.LinkShape;
import io.afterbay.edge.live.LiveOptions.WholeWay;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.run.EmbeddedFlink;
import io.afterbay.edge.run.ResultRows;
import io.afterbay.edge.run.RunnableJob;
import io.afterbay.testing.Await;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real producers and a real broker, over links that are slow and break. */
@Timeout(300)
class ProducersFeedTest {
    private static final int SITES = 3;
    private static final int LINES = 3_000;
    private static final int ROOMS = 5;
    private static final long START_S = 1_767_225_600; // 2026-01-01
    private static final long WINDOW_S = 10;

    /** Of each line at least, whatever compresses it. */
    private static final long RANDOM_BYTES = 5;

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");

    private static final String JOB =
            """
            CREATE TABLE reports (
              time_s BIGINT,
              room INT,
              unused STRING,
              n BIGINT,
              ts AS TO_TIMESTAMP_LTZ(time_s * 1000, 3),
              WATERMARK FOR ts AS ts
            ) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 'reports');
            SELECT room, window_start, COUNT(*) AS c, SUM(n) AS s
            FROM TABLE(TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND))
            GROUP BY room, window_start, window_end;
            """;

    private static final LiveOptions OPTIONS =
            new LiveOptions(
                    new LinkShape(2_000_000, Duration.ofMillis(10)),
                    Duration.ofSeconds(2),
                    Duration.ofSeconds(1),
                    null,
                    WholeWay.PRODUCERS);

    @TempDir private Path directory;

    private final Map<String, Path> inputs = new LinkedHashMap<>();
    private final Map<String, long[]> due = new LinkedHashMap<>();
    private final Map<String, long[]> countAndSum = new TreeMap<>();

    /** Reports of a minute, in order at each site; one site has none. */
    private void write() throws IOException {
        Random random = new Random(7);
        List<List<String>> lines = new ArrayList<>();
        List<List<Long>> times = new ArrayList<>();
        for (int site = 0; site <= SITES; site++) {
            lines.add(new ArrayList<>());
            times.add(new ArrayList<>());
        }
        for (int i = 0; i < LINES; i++) {
            long second = 60L * i / LINES;
            int room = random.nextInt(ROOMS);
            long n = random.nextLong() >> 16;
            int site = random.nextInt(SITES);
            lines.get(site)
                    .add(
                            "{\"time_s\":%d,\"room\":%d,\"unused\":\"ü\",\"n\":%d}"
                                    .formatted(START_S + second, room, n));
            times.get(site).add(1_000 * second);
            count(room, START_S + second - second % WINDOW_S, n);
        }
        for (int site = 0; site <= SITES; site++) {
            String name = "site" + site;
            Path file = directory.resolve(name + ".in");
            inputs.put(name, Files.write(file, lines.get(site)));
            due.put(name, times.get(site).stream().mapToLong(Long::longValue).toArray());
        }
    }

    private void count(int room, long windowS, long n) {
        String start = TIME.format(LocalDateTime.ofEpochSecond(windowS, 0, ZoneOffset.UTC));
        long[] sums = countAndSum.computeIfAbsent(room + "," + start, key -> new long[2]);
        sums[0]++;
        sums[1] += n;
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

    private Timeline timeline() {
        return new Timeline(due, 1_000 * START_S, 59_000, true);
    }

    private LiveStage stage() throws IOException {
        return new LiveStage(
                EmbeddedFlink::run,
                timeline(),
                inputs,
                OPTIONS,
                directory.resolve("whole"),
                progress -> {});
    }

    private ProducersFeed feed(RunnableJob job, Path seen, LinkTrouble links) throws Exception {
        Path own = Files.createDirectories(directory.resolve("producers"));
        return new ProducersFeed(programs(), job, timeline(), seen, links, OPTIONS, own);
    }

    private static KafkaPrograms programs() throws IOException {
        Path edge = target("edge").resolve("classes");
        return new KafkaPrograms(
                classPath("edge-kafka") + File.pathSeparator + edge, classPath("kafka-workloads"));
    }

    private static Path target(String module) {
        return Path.of("..", module, "target").toAbsolutePath().normalize();
    }

    /** As the builds of modules note it. */
    private static String classPath(String module) throws IOException {
        Path target = target(module);
        return target.resolve("classes")
                + File.pathSeparator
                + Files.readString(target.resolve("classpath.txt")).strip();
    }

    @Test
    void rowsAreThoseOfAllReportsOverLinksThatBreak() throws Exception {
        write();
        RunnableJob job = RunnableJob.of(PlanMaker.plan("job", JOB));
        LiveStage stage = stage();
        try (LinkTrouble links = new LinkTrouble(OPTIONS.play(), OPTIONS.outage());
                ProducersFeed feed = feed(job, stage.seen(), links)) {
            LiveOutcome.Way way = stage.run(feed, links);
            ResultRows rows = ResultRows.read(job.sink(), stage.results().directory());
            assertThat(rows.csv()).isEqualTo(expected()).hasSize(6 * ROOMS);
            // What went past the links would not be there; what is not compressed is much more.
            assertThat(way.bytesUp()).isBetween(RANDOM_BYTES * LINES, rawBytes() / 2);
            assertThat(way.bytesDown()).isPositive();
            // What happened when the links went down was not there before they were up again.
            assertThat(way.ages()).isNotNull();
            assertThat(way.ages().maxMs()).isGreaterThan(500);
            assertThat(feed.usage().cpu()).isPositive();
            if (Files.exists(Path.of("/proc/self/status"))) {
                assertThat(feed.usage().peakBytes()).isGreaterThan(10_000_000);
            }
        }
    }

    private long rawBytes() throws IOException {
        long bytes = 0;
        for (Path input : inputs.values()) {
            bytes += Files.size(input);
        }
        return bytes;
    }

    /** A second one would not know what the first one has sent, or has taken. */
    @Test
    void aProgramThatIsKilledEndsTheRun() throws Exception {
        inputs.put("site0", Files.createFile(directory.resolve("site0.in")));
        due.put("site0", new long[0]);
        RunnableJob job = RunnableJob.of(PlanMaker.plan("job", JOB));
        LiveStage stage = stage();
        try (LinkTrouble links = new LinkTrouble(OPTIONS.play(), OPTIONS.outage());
                ProducersFeed feed = feed(job, stage.seen(), links)) {
            assertThat(feed.look(0)).isFalse();
            Comparator<ProcessHandle> byStart =
                    Comparator.comparing(child -> child.info().startInstant().orElseThrow());
            ProcessHandle.current().children().max(byStart).orElseThrow().destroyForcibly();
            assertEnds(feed, "producer-site0: was killed by signal 9");
            ProcessHandle.current().children().min(byStart).orElseThrow().destroyForcibly();
            assertEnds(feed, "broker: was killed by signal 9");
        }
    }

    /** Sooner or later; the other programs may have failed before. */
    private static void assertEnds(ProducersFeed feed, String reason) throws Exception {
        Await.until(
                reason,
                () -> {
                    try {
                        feed.look(0);
                        return false;
                    } catch (CommandFailure e) {
                        return e.getMessage().contains(reason);
                    }
                });
    }

    @Test
    void programsThatNobodyHasNamedAreNamed() {
        assertThatThrownBy(KafkaPrograms::installed)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("afterbay.edge.kafka.site")
                .hasMessageContaining("./afterbay bench edge");
    }
}
