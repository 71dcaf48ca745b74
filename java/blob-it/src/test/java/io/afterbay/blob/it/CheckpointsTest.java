package io.afterbay.blob.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.testing.CityTrace;
import io.afterbay.testing.TestForm;
import io.afterbay.workloads.trafficjam.RankingRow;
import io.afterbay.workloads.trafficjam.TraceFile;
import io.afterbay.workloads.trafficjam.TrafficJamReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The city trace on a MiniCluster, with incremental checkpoints in the store. The store is killed
 * with -9 in mid-run and started again, then the job is killed and started from its last
 * checkpoint: the output is that of a run without failures.
 */
class CheckpointsTest {
    private static final String BUCKET = "jobs";
    private static final String PREFIX = "checkpoints/";
    private static final String ASIDE = "aside/";
    private static final String URI = "s3://" + BUCKET + "/" + PREFIX;

    /**
     * So that the trace lasts for all kills, on slow machines too: for 25 minutes. And not longer:
     * what comes between two checkpoints has to be worth files of its own.
     */
    private static final int LINES_PER_SECOND = TestForm.BLOB_REPORTS / 1_500;

    private static final long OUTAGE_MILLIS = 2_000;

    @TempDir private Path directory;
    private Path input;
    private BlobStore store;

    static Stream<Arguments> combinations() {
        Stream<Arguments> shortForm = Stream.of(Arguments.of("rocksdb", FlinkS3.PRESTO));
        Stream<Arguments> others =
                Stream.of(
                        Arguments.of("afterbay", FlinkS3.HADOOP),
                        Arguments.of("afterbay", FlinkS3.NATIVE));
        return TestForm.IS_LONG ? Stream.concat(shortForm, others) : shortForm;
    }

    @AfterEach
    void stopTheStore() throws Exception {
        store.close();
    }

    @ParameterizedTest
    @MethodSource("combinations")
    void bothAreKilledAndNothingIsLost(String backend, FlinkS3 flavour) throws Exception {
        store = BlobStore.start(directory.resolve("store"));
        store.makeBucket(BUCKET);
        input = CityTrace.first(TestForm.BLOB_REPORTS, directory.resolve("input.csv"));
        AfterbayRun runs =
                new AfterbayRun(directory, input, store, flavour, backend, TestForm.BLOB_CAR_BYTES);

        Process job =
                runs.start(
                        "--rate=" + LINES_PER_SECOND,
                        "--checkpoint-interval=2s",
                        "--checkpoint-dir=" + URI);
        try {
            String last = awaitCheckpoint(job, runs, "");
            Set<String> left = Set.of();
            for (int kill = 0; kill < TestForm.BLOB_STORE_KILLS; kill++) {
                store.kill();
                Thread.sleep(OUTAGE_MILLIS);
                store.startAgain();
                left = Set.copyOf(metadata());
                last = awaitCheckpoint(job, runs, last);
            }
            assertThat(job.isAlive()).as(runs.said()).isTrue();
            awaitOneCheckpoint(left);
        } finally {
            job.destroyForcibly().waitFor();
        }
        runs.awaitWorkerEnd();
        removeOlderCheckpoints();
        assertThat(Files.readString(runs.output())).isNotEqualTo(expected());

        // Negative controls, see below.
        failsWithoutSharedFiles(runs);
        failsOnAnEmptyStore(runs);

        assertThat(runs.end(runs.start("--from=" + URI, "--checkpoint-dir=" + URI)))
                .as(runs.said())
                .isZero();
        assertThat(runs.said()).contains("starting from " + URI);
        assertThat(Files.readString(runs.output())).isEqualTo(expected());

        assertThat(runs.end(runs.command(AfterbayRun.ORPHANS, List.of(URI))))
                .as(runs.said())
                .isZero();
    }

    /** The output of a run without failures. */
    private String expected() throws Exception {
        List<String> rows = TrafficJamReference.read(new TraceFile(input.toString())).lines(1);
        return RankingRow.HEADER + "\n" + String.join("\n", rows) + "\n";
    }

    /** The name of the newest complete checkpoint, as soon as it is another one. */
    private String awaitCheckpoint(Process job, AfterbayRun runs, String before) throws Exception {
        Await.until(
                () -> "a checkpoint after '" + before + "': " + runs.said(),
                () -> {
                    assertThat(job.isAlive()).as(runs.said()).isTrue();
                    return !newest().isEmpty() && !newest().equals(before);
                });
        return newest();
    }

    private String newest() throws Exception {
        return metadata().stream().max(Comparator.comparingInt(CheckpointsTest::number)).orElse("");
    }

    private List<String> metadata() throws Exception {
        return keys(key -> key.endsWith("/_metadata"));
    }

    /**
     * Older ones are deleted, but for those that Flink wanted to delete while the store was away:
     * it tries that once.
     *
     * @param left what was there when the store had been away for the last time
     */
    private void awaitOneCheckpoint(Set<String> left) throws Exception {
        Await.until(
                () -> "older checkpoints are deleted; there are " + metadata(),
                () -> metadata().stream().filter(key -> !left.contains(key)).count() == 1);
    }

    /**
     * Flink deletes the shared files of an older one and its metadata side by side: if it is killed
     * in between, or the storage is away, it leaves a checkpoint that lacks files, as it would on
     * any storage. {@code doctor orphans} names it, and whoever runs the job removes it.
     */
    private void removeOlderCheckpoints() throws Exception {
        String newest = newest();
        try (S3Client client = store.client()) {
            for (String old : metadata()) {
                if (!old.equals(newest)) {
                    client.deleteObject(delete -> delete.bucket(BUCKET).key(old));
                }
            }
        }
    }

    private static int number(String metadata) {
        String[] parts = metadata.split("/");
        return Integer.parseInt(parts[parts.length - 2].substring("chk-".length()));
    }

    private List<String> keys(Predicate<String> which) throws Exception {
        try (S3Client client = store.client()) {
            return client
                    .listObjectsV2Paginator(list -> list.bucket(BUCKET).prefix(PREFIX))
                    .contents()
                    .stream()
                    .map(S3Object::key)
                    .filter(which)
                    .toList();
        }
    }

    /** The checkpoint is there, but not the files that it shares with those before. */
    private void failsWithoutSharedFiles(AfterbayRun runs) throws Exception {
        List<String> shared = keys(key -> key.contains("/shared/"));
        assertThat(shared).isNotEmpty();
        try (S3Client client = store.client()) {
            shared.forEach(key -> move(client, key, ASIDE + key));
            fails(runs);
            shared.forEach(key -> move(client, ASIDE + key, key));
        }
    }

    private static void move(S3Client client, String from, String to) {
        client.copyObject(
                copy ->
                        copy.sourceBucket(BUCKET)
                                .sourceKey(from)
                                .destinationBucket(BUCKET)
                                .destinationKey(to));
        client.deleteObject(delete -> delete.bucket(BUCKET).key(from));
    }

    private void failsOnAnEmptyStore(AfterbayRun runs) throws Exception {
        store.kill();
        Path aside = directory.resolve("aside");
        Files.move(store.data(), aside);
        store.startAgain();
        store.makeBucket(BUCKET);
        fails(runs);
        assertThat(runs.said()).contains("there is no complete checkpoint");
        store.kill();
        Files.move(store.data(), directory.resolve("empty"));
        Files.move(aside, store.data());
        store.startAgain();
    }

    private static void fails(AfterbayRun runs) throws Exception {
        int code = runs.end(runs.start("--from=" + URI, "-D", "restart-strategy.type=none"));
        assertThat(code).as(runs.said()).isEqualTo(1);
    }
}
