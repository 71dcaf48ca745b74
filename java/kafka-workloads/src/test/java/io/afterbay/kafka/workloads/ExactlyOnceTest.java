package io.afterbay.kafka.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.testing.TestForm;
import io.afterbay.workloads.wordcount.CountCheck;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Word count in a process that is killed (-9) and started again in mid-run. */
class ExactlyOnceTest {
    private static final long WORDS = 20_000;

    /** They come for eight seconds, so that kills find a process at work. */
    private static final double RATE_PER_S = 2_500;

    private static final int PARTITIONS = 2;
    private static final Duration POLL = Duration.ofMillis(50);
    private static final Duration AFTERMATH = Duration.ofSeconds(1);

    @TempDir static Path folder;
    private static EmbeddedKafka kafka;

    @BeforeAll
    static void start() throws Exception {
        kafka = EmbeddedKafka.start(folder.resolve("broker"));
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    @Test
    void resultsAreThoseOfExactlyOnceThoughTheProcessWasKilled() throws Exception {
        WordCountPlan plan = plan("exactly", Map.of());
        CountCheck check = count(plan, TestForm.STREAMS_KILLS);
        assertThat(check.problem(plan.stream().counts(WORDS))).isNull();
        assertThat(check.results()).isEqualTo(WORDS);
    }

    /** Negative control: what was not committed is counted twice, and the check finds it. */
    @Test
    void atLeastOnceCountsTwice() throws Exception {
        Map<String, String> settings =
                Map.of("processing.guarantee", "at_least_once", "commit.interval.ms", "3600000");
        WordCountPlan plan = plan("at-least", settings);
        CountCheck check = count(plan, 1);
        assertThat(check.problem(plan.stream().counts(WORDS))).isNotNull();
        assertThat(check.results()).isGreaterThan(WORDS);
    }

    private static WordCountPlan plan(String name, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        // A killed member is given up soon.
        all.put("consumer.session.timeout.ms", "3000");
        all.put("consumer.heartbeat.interval.ms", "500");
        return Plans.plan(kafka.bootstrap(), name, WORDS, RATE_PER_S, PARTITIONS, all);
    }

    private static CountCheck count(WordCountPlan plan, int kills) throws Exception {
        Path state = folder.resolve(plan.name());
        Path log = folder.resolve(plan.name() + ".log");
        try (WordTopics topics = new WordTopics(plan);
                WordFeed feed = new WordFeed(plan)) {
            topics.create();
            CompletableFuture<Void> fed =
                    CompletableFuture.runAsync(
                            () -> {
                                try {
                                    feed.run();
                                } catch (WordCountException e) {
                                    throw new AssertionError(e);
                                }
                            });
            try (CountReader reader = new CountReader(plan)) {
                for (int kill = 1; kill <= kills; kill++) {
                    try (StreamsProcess process =
                            StreamsProcess.start(plan, state, log, ClassPaths.own(), Plans.FLAGS)) {
                        // Of the words, a share that leaves most for after the last kill.
                        read(reader, kill * WORDS / (4 * kills));
                        assertThat(reader.check().results()).isLessThan(WORDS);
                        process.kill();
                    }
                }
                try (StreamsProcess last =
                        StreamsProcess.start(plan, state, log, ClassPaths.own(), Plans.FLAGS)) {
                    read(reader, WORDS);
                    fed.get();
                    readAftermath(reader);
                    assertThat(last.isAlive()).isTrue();
                }
                return reader.check();
            }
        }
    }

    private static void read(CountReader reader, long results) throws Exception {
        Await.until(
                () -> results + " results; there are " + reader.check().results(),
                () -> {
                    reader.poll(POLL);
                    return reader.check().results() >= results;
                });
    }

    /** Until nothing comes any more. */
    private static void readAftermath(CountReader reader) {
        long before;
        do {
            before = reader.check().results();
            reader.poll(AFTERMATH);
        } while (reader.check().results() > before);
    }
}
