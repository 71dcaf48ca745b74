package io.afterbay.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.Env;

/** What commits do to stores on the Kafka Streams of the class path, and what we do about it. */
class CommitsTest {
    private static final int TASKS = 8;
    private static final int COMMITS = 40;

    @TempDir Path folder;

    /** As they were last. */
    private DesyncMetrics metrics;

    @Test
    void runsOnTheVersionThatIsMeant() {
        assertThat(KafkaVersion.text()).isEqualTo(System.getProperty("afterbay.kafka.version"));
    }

    @Test
    void commitsFlushBefore43AndNotSince() throws Exception {
        commits(true);
        assertThat(metrics.instances()).isEqualTo(TASKS);
        assertThat(metrics.flushesBegan())
                .isEqualTo(KafkaVersion.flushesAtCommits() ? TASKS * COMMITS : 0);
        // On a busy machine, a commit may be two bursts.
        assertThat(metrics.bursts())
                .isBetween(KafkaVersion.flushesAtCommits() ? COMMITS : 0L, metrics.flushesBegan());
    }

    /**
     * Triggers that differ make periods that differ, and those meet at times: a few commits still
     * make more than half of the stores compact, but none all of them.
     */
    @Test
    void spreadTriggersSpreadTheCompactionsAfterACommit() throws Exception {
        List<Long> aligned = compacting(commits(false));
        List<Long> spread = compacting(commits(true));
        if (!KafkaVersion.flushesAtCommits()) {
            assertThat(aligned).isEmpty();
            assertThat(spread).isEmpty();
            return;
        }
        assertThat(aligned).hasSizeGreaterThan(3).containsOnly((long) TASKS);
        assertThat(spread).hasSizeGreaterThan(aligned.size()).allMatch(n -> n < TASKS);
        assertThat(metrics.mostCompactionsOfBurst()).isLessThan(TASKS);
        assertThat(spread.stream().filter(n -> n <= TASKS / 2).count())
                .isGreaterThan(spread.size() / 2L);
    }

    /** Leaves out the commits after which nothing was compacted. */
    private static List<Long> compacting(List<Long> compactionsOfCommits) {
        return compactionsOfCommits.stream().filter(n -> n > 0).toList();
    }

    /**
     * All tasks commit in turn, and then wait until the compactions are done.
     *
     * @return how many compactions each commit made
     */
    private List<Long> commits(boolean isSpread) throws Exception {
        List<Task> tasks = new ArrayList<>();
        List<Long> compactions = new ArrayList<>();
        try {
            for (int i = 0; i < TASKS; i++) {
                Path directory = folder.resolve(String.valueOf(isSpread));
                tasks.add(new Task(directory, i, Map.of(DesyncConfig.TRIGGER_SPREAD, isSpread)));
            }
            metrics = Desync.metrics(Env.getDefault());
            for (int round = 0; round < COMMITS; round++) {
                long before = metrics.compactionsBegan();
                for (Task task : tasks) {
                    task.commit(round);
                }
                Await.until("compactions and the burst end", () -> isQuiet(tasks));
                compactions.add(metrics.compactionsBegan() - before);
            }
            return compactions;
        } finally {
            tasks.forEach(Task::close);
        }
    }

    private boolean isQuiet(List<Task> tasks) {
        boolean isCompacting = tasks.stream().anyMatch(Task::isCompacting);
        metrics = Desync.metrics(Env.getDefault());
        return !isCompacting
                && !metrics.isBurst()
                && metrics.compactions() + metrics.compactionsQueued() == 0;
    }
}
