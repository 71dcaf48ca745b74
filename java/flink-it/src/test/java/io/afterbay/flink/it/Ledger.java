package io.afterbay.flink.it;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.flink.it.cluster.Rest;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.flink.it.job.Journal;
import io.afterbay.flink.it.job.LedgerReference;
import io.afterbay.flink.it.job.Pages;
import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
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

    /** Shares of the input at which successive starts wait; the last for all that follow. */
    private static final double[] HOLDS = {0.35, 0.65, 0.9};

    private static final int PARTITIONS = 8;

    private final StandaloneCluster cluster;
    private final Jobs jobs;
    private final Load load;
    private final Path output;
    private final Path release;
    private final double[] holds;
    private String accountsUid = "accounts";
    private int starts;

    /**
     * What the job is given to do.
     *
     * @param postings of each partition
     * @param perSecond postings of each partition
     */
    record Load(int postings, int perSecond, Pages pages) {
        Journal journal() {
            return new Journal(PARTITIONS, postings);
        }

        private static Load usual() {
            return new Load(TestForm.LEDGER_POSTINGS, 1_000, Pages.NONE);
        }
    }

    /**
     * @param name of the life's folder
     */
    Ledger(StandaloneCluster cluster, String name) throws IOException {
        this(cluster, name, HOLDS);
    }

    /**
     * @param name of the life's folder
     * @param holds shares of the input at which successive starts wait, so that however slow the
     *     machine, something is left to do for those that follow
     */
    Ledger(StandaloneCluster cluster, String name, double... holds) throws IOException {
        this(cluster, name, Load.usual(), holds);
    }

    Ledger(StandaloneCluster cluster, String name, Load load, double... holds) throws IOException {
        this.cluster = cluster;
        this.jobs = new Jobs(cluster);
        this.load = load;
        Path folder = cluster.home().root().resolve("ledger").resolve(name);
        this.output = Files.createDirectories(folder.resolve("output"));
        this.release = folder.resolve("release");
        this.holds = holds;
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

    /** For {@code flink run}. */
    List<String> arguments() {
        return List.of(
                "--output",
                output.toUri().toString(),
                "--partitions",
                String.valueOf(PARTITIONS),
                "--postings",
                String.valueOf(load.postings),
                "--per-second",
                String.valueOf(load.perSecond),
                "--archive-pages",
                String.valueOf(load.pages.perCustomer()),
                "--archive-page-bytes",
                String.valueOf(load.pages.meanBytes()),
                "--hold-at",
                String.valueOf(nextHold()),
                "--release",
                release.toString(),
                "--accounts-uid",
                accountsUid);
    }

    /** Gives the operator of accounts another name, under which no snapshot has its state. */
    void renameAccounts() {
        accountsUid = "renamed";
    }

    private int nextHold() {
        double share = holds[Math.min(starts++, holds.length - 1)];
        return (int) (share * load.postings);
    }

    /** Waits until this start has emitted that share of the whole input. */
    void awaitShare(String job, double share) throws Exception {
        long records = (long) (share * PARTITIONS * load.postings);
        jobs.awaitEmitted(job, records);
    }

    /** Waits until some of the output is committed. */
    void awaitOutput() throws Exception {
        Await.until(() -> "output in " + output, () -> !committed(line -> true).isEmpty());
    }

    /** Stops the job with a savepoint; returns its path. */
    String stop(String job, String format) throws Exception {
        return cluster.rest().stopWithSavepoint(job, cluster.home().savepoints(), format);
    }

    /** Takes a savepoint of the job, which goes on. */
    String savepoint(String job, String format) throws Exception {
        return cluster.rest().savepoint(job, cluster.home().savepoints(), format);
    }

    /**
     * Cancels the job; returns the path of its last checkpoint, which is retained. Of a checkpoint
     * that is completed in the same moment, the REST interface does not hear.
     */
    String cancel(String job) throws Exception {
        cluster.rest().cancel(job);
        try (Stream<Path> folders = Files.list(cluster.home().checkpoints().resolve(job))) {
            return folders.filter(folder -> Files.exists(folder.resolve("_metadata")))
                    .max(Comparator.comparingInt(Ledger::checkpointId))
                    .orElseThrow()
                    .toUri()
                    .toString();
        }
    }

    private static int checkpointId(Path folder) {
        return Integer.parseInt(folder.getFileName().toString().substring("chk-".length()));
    }

    /** Starts a job that must not run; returns what its user is told. */
    String refusal(String backend, @Nullable String from, Map<String, String> config)
            throws Exception {
        String job;
        try {
            job = start(backend, 2, from, config);
        } catch (Rest.RestException e) {
            return e.getMessage();
        }
        cluster.rest().awaitStatus(job, "FAILED");
        return cluster.rest().exceptions(job);
    }

    /** Lets the job read to the end, and compares all that was ever committed. */
    void finish(String job) throws Exception {
        release();
        cluster.rest().awaitStatus(job, "FINISHED");
        Multiset.assertEqual(expected(line -> true), committed(line -> true));
    }

    /**
     * Compares all that was ever committed, a part of the lines at a time.
     *
     * @param parts so many that a part fits into memory
     */
    void assertOutput(int parts) throws IOException {
        for (int part = 0; part < parts; part++) {
            int present = part;
            Predicate<String> isPresent = line -> Math.floorMod(line.hashCode(), parts) == present;
            Multiset.assertEqual(expected(isPresent), committed(isPresent));
        }
    }

    private List<String> expected(Predicate<String> part) {
        List<String> lines = new ArrayList<>();
        LedgerReference.lines(
                load.journal(),
                load.pages,
                line -> {
                    if (part.test(line)) {
                        lines.add(line);
                    }
                });
        return lines;
    }

    void release() throws IOException {
        Files.createFile(release);
    }

    /** The lines that exactly-once readers see: those of finished part files. */
    private List<String> committed(Predicate<String> part) throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : finishedFiles()) {
            try (Stream<String> lines = Files.lines(file)) {
                lines.filter(part).forEach(found::add);
            }
        }
        return found;
    }

    /** What was output by now; to go back to later. */
    Set<Path> finishedFiles() throws IOException {
        return LiveTree.files(output).stream()
                .filter(Ledger::isFinished)
                .collect(Collectors.toSet());
    }

    private static boolean isFinished(Path file) {
        return file.getFileName().toString().startsWith("part-");
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
