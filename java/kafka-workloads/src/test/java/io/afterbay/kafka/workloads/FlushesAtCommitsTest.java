package io.afterbay.kafka.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.TestForm;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * When the stores of a running application flush, on both sides of Kafka Streams 4.3. Before it, a
 * commit writes a checkpoint, and flushes for it, only with at-least-once and only after more than
 * 10,000 changes of a task since the last; since then, never.
 */
class FlushesAtCommitsTest {
    private static final long WORDS = TestForm.STREAMS_WORDS;
    private static final int PARTITIONS = 2;
    private static final Map<String, String> AT_LEAST_ONCE =
            Map.of("processing.guarantee", "at_least_once", "commit.interval.ms", "100");
    private static final Map<String, String> EXACTLY_ONCE = Map.of();

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
    void before43AtLeastOnceFlushesAtSomeCommits() throws Exception {
        StreamsProcess.Figures figures = figures("a", AT_LEAST_ONCE, ClassPaths.before43());
        assertThat(figures.kafka()).startsWith("4.2.");
        assertThat(figures.flushes()).isBetween(PARTITIONS * 1L, WORDS / 10_000);
        assertThat(figures.bursts()).isPositive();
    }

    @Test
    @LongForm
    void before43ExactlyOnceFlushesAtNoCommit() throws Exception {
        StreamsProcess.Figures figures = figures("b", EXACTLY_ONCE, ClassPaths.before43());
        assertThat(figures.kafka()).startsWith("4.2.");
        assertThat(figures.flushes()).isZero();
    }

    @Test
    void since43NoCommitFlushes() throws Exception {
        List<Map<String, String>> guarantees =
                TestForm.IS_LONG ? List.of(AT_LEAST_ONCE, EXACTLY_ONCE) : List.of(AT_LEAST_ONCE);
        for (Map<String, String> settings : guarantees) {
            StreamsProcess.Figures figures =
                    figures("c" + settings.size(), settings, ClassPaths.own());
            assertThat(figures.kafka()).startsWith("4.3.");
            assertThat(figures.flushes()).isZero();
        }
    }

    private static StreamsProcess.Figures figures(
            String name, Map<String, String> settings, String classPath) throws Exception {
        WordCountPlan plan = Plans.plan(kafka.bootstrap(), name, WORDS, 1e9, PARTITIONS, settings);
        try (WordTopics topics = new WordTopics(plan);
                WordFeed feed = new WordFeed(plan)) {
            topics.create();
            feed.run();
            try (StreamsProcess process =
                            StreamsProcess.start(
                                    plan,
                                    folder.resolve(name),
                                    folder.resolve(name + ".log"),
                                    classPath,
                                    Plans.FLAGS);
                    CountReader reader = new CountReader(plan)) {
                Await.until(
                        () -> WORDS + " results; there are " + reader.check().results(),
                        () -> {
                            reader.poll(Duration.ofMillis(100));
                            return reader.check().results() >= WORDS;
                        });
                assertThat(reader.check().problem(plan.stream().counts(WORDS))).isNull();
                return process.end();
            }
        }
    }
}
