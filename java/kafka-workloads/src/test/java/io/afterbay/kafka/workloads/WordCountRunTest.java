package io.afterbay.kafka.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.rocksdb.Desync;
import io.afterbay.testing.Await;
import io.afterbay.workloads.wordcount.WordCountPlan;
import io.afterbay.workloads.wordcount.WordCountReport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Env;

class WordCountRunTest {
    private static final long WORDS = 4_000;

    @TempDir Path folder;

    private WordCountReport run(WordCountPlan plan) throws Exception {
        Set<String> phases = new HashSet<>();
        WordCountReport report =
                new WordCountRun(plan, folder, (phase, sent, results) -> phases.add(phase)).run();
        assertThat(phases.contains("counting")).isEqualTo(report.problem() == null);
        return report;
    }

    private static WordCountPlan plan(String bootstrap, Map<String, String> settings) {
        return Plans.plan(bootstrap, "test", WORDS, 4_000, 2, settings);
    }

    @Test
    void countsOnABrokerOfItsOwn() throws Exception {
        WordCountReport report = run(plan(null, Map.of()));
        assertThat(report.problem()).isNull();
        assertThat(report.results()).isEqualTo(WORDS);
        assertThat(report.elapsedS()).isGreaterThan(0.9);
        assertThat(report.p50Ms()).isPositive();
        assertThat(report.p999Ms()).isBetween(report.p50Ms(), report.maxMs());
        assertThat(report.topCounts()).hasSize(5).containsKey("word0");
        assertThat(List.copyOf(report.topCounts().values()))
                .isSortedAccordingTo(Comparator.reverseOrder());
        assertThat(report.rocks()).isNotNull();
        assertThat(Desync.metrics(Env.getDefault())).isNull();
    }

    @Test
    void removesItsTopicsFromABrokerThatWasThere() throws Exception {
        try (EmbeddedKafka kafka = EmbeddedKafka.start(folder.resolve("other"));
                Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrap()))) {
            assertThat(run(plan(kafka.bootstrap(), Map.of())).problem()).isNull();
            Await.until(
                    "its topics to be gone, which brokers hear of one after the other",
                    () ->
                            admin.listTopics().names().get().stream()
                                    .noneMatch(n -> n.startsWith("test-")));
        }
    }

    @Test
    void saysWhatIsWrongWithASetting() throws Exception {
        assertThat(run(plan(null, Map.of("afterbay.desync.gate", "maybe"))).problem())
                .contains("afterbay.desync.gate")
                .contains("true or false");
    }

    @Test
    void saysSoonThatNoBrokerAnswers() throws Exception {
        try (Socket deaf = new Socket()) { // nobody else can have its port meanwhile
            deaf.bind(new InetSocketAddress("127.0.0.1", 0));
            int port = deaf.getLocalPort();
            assertThat(run(plan("127.0.0.1:" + port, Map.of())).problem())
                    .contains("127.0.0.1:" + port)
                    .contains("leave out --bootstrap");
        }
        assertThat(run(plan("no-such-host.invalid:9092", Map.of())).problem())
                .contains("no-such-host.invalid:9092");
    }

    @Test
    void saysWhyNoBrokerStarts() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "");
        assertThatThrownBy(() -> EmbeddedKafka.start(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no Kafka broker could be started in " + file);
    }
}
