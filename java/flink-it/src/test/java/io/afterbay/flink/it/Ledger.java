package io.afterbay.flink.it;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.flink.it.cluster.Await;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.flink.it.job.Journal;
import io.afterbay.flink.it.job.LedgerReference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One life of the ledger job: it is started, stopped with savepoints, killed, and started again on
 * one backend or another. All its starts write to one folder, and a line that two of them commit is
 * counted twice.
 */
final class Ledger {
    /** The class that docs/flink.md tells users to name. */
    static final String AFTERBAY = "io.afterbay.flink.AfterbayStateBackendFactory";

    static final String ROCKSDB = "rocksdb";
    static final String HASHMAP = "hashmap";

    private static final int PARTITIONS = 8;
    private static final int PER_SECOND = 1_000;
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private final StandaloneCluster cluster;
    private final Journal journal;
    private final Path output;
    private final Path release;

    /**
     * @param name of the life's folder
     */
    Ledger(StandaloneCluster cluster, String name) throws IOException {
        this.cluster = cluster;
        this.journal = new Journal(PARTITIONS, postings());
        Path folder = cluster.home().root().resolve("ledger").resolve(name);
        this.output = Files.createDirectories(folder.resolve("output"));
        this.release = folder.resolve("release");
    }

    /** Postings of each partition: seconds of work, or minutes with -Dafterbay.long=true. */
    private static int postings() {
        return Boolean.getBoolean("afterbay.long") ? 60_000 : 8_000;
    }

    /**
     * Starts the job; it waits before its input ends until {@link #finish}.
     *
     * @param backend value of {@code state.backend.type}
     * @param from savepoint, if any
     */
    String start(String backend, int parallelism, @Nullable String from) throws Exception {
        return start(backend, parallelism, from, Map.of());
    }

    String start(String backend, int parallelism, @Nullable String from, Map<String, String> config)
            throws Exception {
        Map<String, String> all = new HashMap<>(config);
        all.put("state.backend.type", backend);
        String jar = cluster.rest().upload(Artifacts.ledgerJar());
        return cluster.rest().run(jar, arguments(), parallelism, from, all);
    }

    List<String> arguments() {
        return List.of(
                "--output",
                output.toUri().toString(),
                "--partitions",
                String.valueOf(journal.partitions()),
                "--postings",
                String.valueOf(journal.postings()),
                "--per-second",
                String.valueOf(PER_SECOND),
                "--hold-at",
                String.valueOf(journal.postings() / 10 * 9),
                "--release",
                release.toString());
    }

    /** Waits until this start has emitted that share of the whole input. */
    void awaitShare(String job, double share) throws Exception {
        long records = (long) (share * journal.partitions() * journal.postings());
        Await.until(
                LIMIT,
                () -> "%d records; %d emitted".formatted(records, cluster.rest().emitted(job)),
                () -> {
                    failIfEnded(job);
                    return cluster.rest().emitted(job) >= records;
                });
    }

    /** Waits for so many more completed checkpoints. */
    void awaitCheckpoints(String job, int more) throws Exception {
        long wanted = checkpoints(job, "completed") + more;
        Await.until(
                LIMIT,
                () -> "checkpoint %d: %s".formatted(wanted, cluster.rest().checkpoints(job)),
                () -> {
                    failIfEnded(job);
                    return checkpoints(job, "completed") >= wanted;
                });
    }

    /** Waits until the job has been restored so often. */
    void awaitRestores(String job, int restores) throws Exception {
        Await.until(
                LIMIT,
                () -> "restore %d: %s".formatted(restores, cluster.rest().checkpoints(job)),
                () -> {
                    failIfEnded(job);
                    return checkpoints(job, "restored") >= restores;
                });
    }

    private long checkpoints(String job, String kind) throws Exception {
        return cluster.rest().checkpoints(job).path("counts").path(kind).asLong();
    }

    private void failIfEnded(String job) throws Exception {
        String status = cluster.rest().status(job);
        if (List.of("FAILED", "FINISHED", "CANCELED").contains(status)) {
            throw new AssertionError(status + ":\n" + cluster.rest().exceptions(job));
        }
    }

    /** Stops the job with a savepoint; returns its path. */
    String stop(String job, String format) throws Exception {
        return cluster.rest().stopWithSavepoint(job, cluster.home().savepoints(), format);
    }

    /** Lets the job read to the end, and compares all that was ever committed. */
    void finish(String job) throws Exception {
        release();
        cluster.rest().awaitStatus(job, "FINISHED", LIMIT);
        Multiset.assertEqual(LedgerReference.lines(journal), committed());
    }

    void release() throws IOException {
        Files.createFile(release);
    }

    /** The lines that exactly-once readers see: those of finished part files. */
    private List<String> committed() throws IOException {
        List<String> lines = new ArrayList<>();
        for (Path file : finishedFiles()) {
            lines.addAll(Files.readAllLines(file));
        }
        return lines;
    }

    /** What was output by now; to go back to later. */
    Set<Path> finishedFiles() throws IOException {
        try (Stream<Path> files = Files.walk(output)) {
            return files.filter(Ledger::isFinished).collect(Collectors.toSet());
        }
    }

    private static boolean isFinished(Path file) {
        return Files.isRegularFile(file) && file.getFileName().toString().startsWith("part-");
    }

    /**
     * Forgets what was output since, so that another start can go on from the same savepoint.
     *
     * @param then the finished files at the time of the savepoint
     */
    void goBack(Set<Path> then) throws IOException {
        for (Path file : finishedFiles()) {
            if (!then.contains(file)) {
                Files.delete(file);
            }
        }
        Files.deleteIfExists(release);
    }
}
