package io.afterbay.flink.it;

import static io.afterbay.flink.it.Ledger.AFTERBAY;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.it.cluster.Artifacts;
import io.afterbay.flink.it.cluster.StandaloneCluster;
import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.OwnJvm;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A job that was lost or cancelled, submitted again with the checkpoint that was retained. */
class RetainedCheckpointIT {
    @RegisterExtension static final ClusterExtension FLINK = ClusterExtension.withBackend();

    private final StandaloneCluster cluster = FLINK.cluster();
    private final Jobs jobs = new Jobs(cluster);

    static List<Arguments> claimedOrBoth() {
        Arguments claimed = Arguments.of("CLAIM", 2);
        return TestForm.IS_LONG ? List.of(claimed, Arguments.of("NO_CLAIM", 4)) : List.of(claimed);
    }

    @ParameterizedTest
    @MethodSource("claimedOrBoth")
    void goesOnAfterItWasCancelled(String claim, int parallelism) throws Exception {
        goOnAfterCancel(claim, parallelism, true);
    }

    @ParameterizedTest
    @CsvSource({"NO_CLAIM, 2", "CLAIM, 4"})
    @LongForm
    void goesOnFromAFullCheckpoint(String claim, int parallelism) throws Exception {
        goOnAfterCancel(claim, parallelism, false);
    }

    private void goOnAfterCancel(String claim, int parallelism, boolean incremental)
            throws Exception {
        Ledger ledger = new Ledger(cluster, "retained-%s-%d".formatted(claim, parallelism));
        Path checkpoint = runAndCancel(ledger, incremental);
        Set<Path> files = files(checkpoint);
        Set<Path> shared = files(checkpoint.resolveSibling("shared"));
        assertThat(shared.size() > 1).as("%s", shared).isEqualTo(incremental);

        Map<String, String> config = from(checkpoint, claim);
        config.putAll(incremental(incremental));
        goOn(ledger, ledger.start(AFTERBAY, parallelism, null, config));

        if (claim.equals("CLAIM")) {
            awaitDeletion(checkpoint);
        } else {
            assertThat(files(checkpoint)).isEqualTo(files);
            assertThat(files(checkpoint.resolveSibling("shared"))).isEqualTo(shared);
        }
    }

    /**
     * Without a claim, the source may be deleted as soon as there is a checkpoint; then a process
     * is killed. What that leaves in storage was written since the last complete checkpoint, and
     * the cleaner of docs/flink.md finds it.
     */
    @Test
    @LongForm
    void survivesAKillWhenItsSourceWasDeleted() throws Exception {
        Ledger ledger = new Ledger(cluster, "retained-deleted");
        Path source = runAndCancel(ledger, true);
        Map<String, String> config = from(source, "NO_CLAIM");
        config.putAll(incremental(true));
        String job = ledger.start(AFTERBAY, 2, null, config);
        jobs.awaitRestores(job, 1);
        jobs.awaitCheckpoints(job, 1);
        FileUtils.deleteDirectory(source.getParent().toFile());

        Path storage = cluster.home().checkpoints().resolve(job);
        int filesMax = Leaks.referred(storage).size();
        Instant last = jobs.completedCheckpointBegin(job, 0);
        jobs.killOneHost(job);
        jobs.awaitRestores(job, 2);
        Leaks.Kill kill = new Leaks.Kill(last, Instant.now());
        jobs.awaitCheckpoints(job, 1);
        ledger.finish(job);

        Await.until(
                () -> fault(storage, kill, filesMax),
                () -> fault(storage, kill, filesMax).isEmpty());
        Path stray = storage.resolve("shared").resolve(UUID.randomUUID().toString());
        Files.createDirectories(stray.getParent());
        Files.writeString(stray, "as a kill leaves it, if it comes at such a moment");
        Files.setLastModifiedTime(stray, FileTime.from(Instant.now().minusSeconds(60)));
        assertThat(doctor(storage.toString(), "--delete", "--older-than", "1s", "--force"))
                .contains(stray.getFileName() + "  deleted");
        assertThat(Leaks.orphans(storage)).isEmpty();
    }

    private static String fault(Path storage, Leaks.Kill kill, int filesMax) throws IOException {
        return Leaks.fault(Leaks.orphans(storage), List.of(kill), filesMax);
    }

    private String doctor(String... arguments) throws Exception {
        List<String> command = OwnJvm.command("io.afterbay.orphans.Orphans");
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String told = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(told).isZero();
        return told;
    }

    private static Map<String, String> incremental(boolean incremental) {
        return Map.of("execution.checkpointing.incremental", String.valueOf(incremental));
    }

    /** With the command of docs/flink.md, which leaves the parallelism to Flink: 1. */
    @Test
    void goesOnAfterTheClusterWasKilled() throws Exception {
        Ledger ledger = new Ledger(cluster, "retained-guide");
        String first = run(ledger, false);
        cluster.restart();
        Path checkpoint = lastComplete(first);
        Set<Path> files = files(checkpoint);

        Map<String, String> variables =
                Map.of(
                        "CHECKPOINT",
                        checkpoint.toUri().toString(),
                        "JOB_JAR",
                        Artifacts.ledgerJar().toString(),
                        "JOB_ARGS",
                        String.join(" ", ledger.arguments()));
        String told = new Guide().run("resume", cluster.home().root(), variables);
        goOn(ledger, Guide.submittedJob(told));

        assertThat(files(checkpoint)).isEqualTo(files);
    }

    private void goOn(Ledger ledger, String job) throws Exception {
        jobs.awaitRestores(job, 1);
        jobs.awaitCheckpoints(job, 1);
        ledger.finish(job);
    }

    /** Negative control: all is read and output once more. */
    @Test
    void withoutTheCheckpointOutputDiffers() throws Exception {
        Ledger ledger = new Ledger(cluster, "retained-ignored");
        runAndCancel(ledger);

        assertDiffers(ledger, ledger.start(AFTERBAY, 2, null));
    }

    /** Negative control: the sources' positions are restored, one operator's state is not. */
    @Test
    void withoutTheStateOfOneOperatorOutputDiffers() throws Exception {
        Ledger ledger = new Ledger(cluster, "retained-in-part");
        Map<String, String> config = from(runAndCancel(ledger), "NO_CLAIM");
        config.put("execution.state-recovery.ignore-unclaimed-state", "true");

        ledger.renameAccounts();
        String job = ledger.start(AFTERBAY, 2, null, config);
        jobs.awaitRestores(job, 1);
        assertDiffers(ledger, job);
    }

    private static void assertDiffers(Ledger ledger, String job) {
        assertThatThrownBy(() -> ledger.finish(job))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("lines expected");
    }

    /** Returns the checkpoint that is left. */
    private Path runAndCancel(Ledger ledger) throws Exception {
        return runAndCancel(ledger, false);
    }

    private Path runAndCancel(Ledger ledger, boolean incremental) throws Exception {
        String job = run(ledger, incremental);
        ledger.cancel(job);
        return lastComplete(job);
    }

    /** Returns a job that has left both output and checkpoints. */
    private String run(Ledger ledger, boolean incremental) throws Exception {
        Map<String, String> config = incremental(incremental);
        String job = ledger.start(AFTERBAY, 2, null, config);
        jobs.awaitCheckpoints(job, 2);
        ledger.awaitOutput();
        return job;
    }

    /** As a user finds it when no JobManager knows the job any more. */
    private Path lastComplete(String job) throws Exception {
        try (Stream<Path> folders = Files.list(cluster.home().checkpoints().resolve(job))) {
            return folders.filter(folder -> Files.exists(folder.resolve("_metadata")))
                    .max(Comparator.comparingInt(RetainedCheckpointIT::number))
                    .orElseThrow();
        }
    }

    private static int number(Path checkpoint) {
        return Integer.parseInt(checkpoint.getFileName().toString().substring("chk-".length()));
    }

    private static Map<String, String> from(Path checkpoint, String claim) {
        Map<String, String> config = new HashMap<>();
        config.put("execution.state-recovery.path", checkpoint.toUri().toString());
        config.put("execution.state-recovery.claim-mode", claim);
        return config;
    }

    private static Set<Path> files(Path checkpoint) throws Exception {
        return Set.copyOf(LiveTree.files(checkpoint));
    }

    private static void awaitDeletion(Path checkpoint) throws Exception {
        Await.until(
                () -> "%s to be deleted by the job that claimed it".formatted(checkpoint),
                () -> Files.notExists(checkpoint));
    }
}
