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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One life of the ledger job: it is started, stopped with savepoints, killed, and started again on
 * one backend or another. Each start writes to its own folder, so that the output of the whole life
 * is the union of folders, and a line that two starts commit is counted twice.
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
    private final Path folder;
    private final List<Path> outputs = new ArrayList<>();
    private final Path release;

    /**
     * @param name of the life's folder
     */
    Ledger(StandaloneCluster cluster, String name) throws IOException {
        this(cluster, new Journal(PARTITIONS, postings()), newFolder(cluster, name), List.of());
    }

    private Ledger(StandaloneCluster cluster, Journal journal, Path folder, List<Path> outputs) {
        this.cluster = cluster;
        this.journal = journal;
        this.folder = folder;
        this.outputs.addAll(outputs);
        this.release = folder.resolve("release");
    }

    /** Postings of each partition: seconds of work, or minutes with -Dafterbay.long=true. */
    private static int postings() {
        return Boolean.getBoolean("afterbay.long") ? 60_000 : 8_000;
    }

    private static Path newFolder(StandaloneCluster cluster, String name) throws IOException {
        return Files.createDirectories(cluster.home().root().resolve("ledger").resolve(name));
    }

    /** Another life with the same past. */
    Ledger fork(String name) throws IOException {
        return new Ledger(cluster, journal, newFolder(cluster, name), outputs);
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

    /** The arguments of the next start. */
    List<String> arguments() {
        Path output = folder.resolve("output-" + outputs.size());
        outputs.add(output);
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
    List<String> committed() throws IOException {
        List<String> lines = new ArrayList<>();
        for (Path output : outputs) {
            try (Stream<Path> files = Files.exists(output) ? Files.walk(output) : Stream.empty()) {
                for (Path file : files.filter(Ledger::isFinished).toList()) {
                    lines.addAll(Files.readAllLines(file));
                }
            }
        }
        return lines;
    }

    private static boolean isFinished(Path file) {
        return Files.isRegularFile(file) && file.getFileName().toString().startsWith("part-");
    }
}
