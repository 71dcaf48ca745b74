package io.afterbay.storm.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.storm.it.cluster.StormCluster;
import io.afterbay.storm.it.cluster.StormCluster.Daemon;
import io.afterbay.storm.it.job.Ledger;
import io.afterbay.storm.it.job.Technique;
import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** The topology on a cluster, under load for as long as somebody waits for something. */
final class WordRun implements AutoCloseable {
    private static final String NAME = "words";

    /** So many words are due that are not acked. */
    private static final int AHEAD = 2_000;

    /** After each fault, so many words have to be acked again. */
    private static final int WORDS_BETWEEN = 500;

    private final StormCluster cluster;
    private final Ledger ledger;

    private WordRun(StormCluster cluster, Ledger ledger) {
        this.cluster = cluster;
        this.ledger = ledger;
    }

    /** Returns when both workers run, and words are acked. */
    static WordRun submit(StormCluster cluster, Technique technique, Path directory)
            throws Exception {
        WordRun run = new WordRun(cluster, new Ledger(directory));
        cluster.submit(NAME, technique, directory);
        run.awaitWords();
        return run;
    }

    /** Goes on until words come through, and all workers are there. */
    private void awaitWords() throws Exception {
        awaitFed("all workers", () -> hasWorkers());
        int acks = ledger.acks();
        awaitFed("acked words", () -> ledger.acks() >= acks + WORDS_BETWEEN);
    }

    private boolean hasWorkers() throws Exception {
        return cluster.workers().size() == cluster.ports().size();
    }

    private void awaitFed(String what, Callable<Boolean> condition) throws Exception {
        Await.until(
                () -> what + "; workers: %s, acks: %d".formatted(cluster.workers(), ledger.acks()),
                () -> {
                    feed();
                    return condition.call();
                });
    }

    private void feed() throws Exception {
        ledger.setLimit(Math.max(ledger.limit(), ledger.acks() + AHEAD));
    }

    /** Kills it amid words; returns when there is another one, and words are acked again. */
    void killWorker(int port) throws Exception {
        ProcessHandle worker = cluster.workers().get(port);
        kill(worker);
        awaitNext(port, worker);
    }

    private void awaitNext(int port, ProcessHandle before) throws Exception {
        awaitFed(
                "another worker at port " + port,
                () -> {
                    ProcessHandle now = cluster.workers().get(port);
                    return now != null && now.pid() != before.pid();
                });
        awaitWords();
    }

    /** The same with a daemon. */
    void kill(Daemon daemon) throws Exception {
        awaitFed("one " + daemon, () -> cluster.daemon(daemon).size() == 1);
        List<ProcessHandle> before = cluster.daemon(daemon);
        kill(before.get(0));
        awaitFed(
                "another " + daemon,
                () -> {
                    List<ProcessHandle> now = cluster.daemon(daemon);
                    return now.size() == 1 && now.get(0).pid() != before.get(0).pid();
                });
        awaitFed("a Nimbus that leads", () -> cluster.isLed(NAME));
        awaitWords();
    }

    private void kill(ProcessHandle process) throws Exception {
        feed();
        assertThat(process.destroyForcibly()).isTrue();
        Await.until("the end of a process that was killed", () -> !process.isAlive());
    }

    /**
     * A bolt fails, and with it its worker alone; returns when there is another one, and words are
     * acked again.
     *
     * @return the name of the thread that the bolt failed in
     */
    String poison() throws Exception {
        Map<Integer, ProcessHandle> before = cluster.workers();
        ledger.poison();
        awaitFed("a bolt that fails", () -> !ledger.poisoned().isEmpty());
        awaitFed(
                "the end of its worker",
                () -> !before.values().stream().allMatch(ProcessHandle::isAlive));
        for (Map.Entry<Integer, ProcessHandle> worker : before.entrySet()) {
            if (!worker.getValue().isAlive()) {
                awaitNext(worker.getKey(), worker.getValue());
            }
        }
        assertThat(before.values().stream().filter(ProcessHandle::isAlive))
                .as("workers whose bolts did not fail")
                .hasSize(before.size() - 1);
        return ledger.poisoned();
    }

    /** No more words are due; waits until all are done, and looks whether each is. */
    void finish() throws Exception {
        int words = ledger.limit();
        Await.until(
                () -> "all words to be acked: " + ledger.problem(),
                () -> ledger.acked().cardinality() >= words);
        assertThat(ledger.problem()).isEmpty();
        int repeats = ledger.repeats();
        System.out.printf("%d words, %d emitted again%n", words, repeats);
        assertThat(repeats).as("words that a fault hit").isPositive();
    }

    @Override
    public void close() throws Exception {
        cluster.kill(NAME);
    }
}
