package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.incremental.SlowStorage.Gate;
import io.afterbay.store.io.ArrivingFile;
import io.afterbay.testing.Await;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Restores that go on behind the job. */
class LazyRestoreTest extends LazyRestores {
    // ---------------------------------------------------------------- processing before the end

    @Test
    void eventsAreProcessedBeforeTheDownloadEnds() throws Exception {
        List<KeyedStateHandle> last = runBefore();
        Gate gate = storage.holdDownloads();
        backends.open(1, last);
        change(1);
        assertThat(storage.readBytes.get())
                .as("read on demand")
                .isPositive()
                .isLessThan(SlowStorage.segmentBytes(last.get(0)) / 2);
        content.assertIsIn(backends.all());
        change(500);
        content.assertIsIn(backends.all());
        assertThat(gate.isOpen()).isFalse();
        gate.open();
        content.assertIsIn(backends.all());
    }

    @Test
    void aGaugeTellsWhatIsMissing() throws Exception {
        List<KeyedStateHandle> last = runBefore();
        Gate gate = storage.holdDownloads();
        backends.open(1, last);
        long all = SlowStorage.segmentBytes(last.get(0));
        assertThat(backends.gauge("restoreMissingBytes")).isPositive().isLessThan(all);
        gate.open();
        Await.until("all bytes", () -> backends.gauge("restoreMissingBytes") == 0);
        awaitNoStreams();
        assertThat(storage.readBytes.get()).isGreaterThanOrEqualTo(all);
    }

    /** Negative control: the gate holds a restore that needs all files. */
    @Test
    void withoutItARestoreWaitsForAllFiles() throws Exception {
        List<KeyedStateHandle> last = runBefore();
        backends.set(LAZY, "false");
        Gate gate = storage.holdDownloads();
        CompletableFuture<Void> restore =
                CompletableFuture.runAsync(unchecked(() -> backends.open(1, last)));
        assertThat(gate.reached.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> restore.get(LOOK_MILLIS, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
        gate.open();
        restore.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void filesArriveThoughNobodyAsksForThem() throws Exception {
        List<KeyedStateHandle> last = runBefore();
        backends.open(1, last);
        awaitBytesRead(SlowStorage.segmentBytes(last.get(0)));
        awaitNoThreads();
        deleteStorage();
        content.assertIsIn(backends.all());
    }

    /** In the order of the chunks, then of the files. What a store says is tested where it is. */
    @Test
    void whatTheStoreSaysOfItsTriggersIsDownloadedFirst() throws Exception {
        List<KeyedStateHandle> last = runBefore();
        List<String> files =
                SlowStorage.segments(last.get(0)).stream()
                        .sorted(Comparator.reverseOrder())
                        .toList();
        List<Integer> numbers =
                files.stream().map(f -> Integer.valueOf(f.substring(0, 8))).toList();
        long chunk = ArrivingFile.CHUNK_BYTES;
        backends.setStores(
                TriggersSay.thatTheyNeed(
                        to -> {
                            to.place(numbers.get(1), 2 * chunk + 77);
                            to.place(numbers.get(0), chunk);
                        }));
        backends.set("state.backend.afterbay.checkpoint.transfer-threads", "1");
        Gate gate = storage.holdDownloads();
        backends.open(1, last);
        Await.until("what the triggers say", TriggersSay::hasSaid);
        gate.open();
        awaitBytesRead(SlowStorage.segmentBytes(last.get(0)));
        List<String> beginnings =
                storage.downloads.stream().filter(place -> isPlaceOf(chunk, place)).toList();
        // Behind what was begun before anything was said.
        assertThat(beginnings)
                .containsSequence(files.get(1) + "@" + 2 * chunk, files.get(0) + "@" + chunk);
    }

    private static boolean isPlaceOf(long chunk, String place) {
        return Long.parseLong(place.substring(place.indexOf('@') + 1)) % chunk == 0;
    }

    /** Against plain collections: changes, checkpoints and restarts, whatever has arrived. */
    @ParameterizedTest
    @MethodSource("seeds")
    void agreesWithTheModelFromSlowStorage(long seed) throws Exception {
        random.setSeed(seed);
        AtomicInteger reads = new AtomicInteger();
        storage.beforeReads(
                (name, closed) -> {
                    int read = reads.incrementAndGet();
                    if (SlowStorage.isDownload() || read % 16 == 0) {
                        pause(read % 3);
                    }
                    if (read % 400 == 0) { // and so none a third time
                        throw new IOException("connection reset");
                    }
                });
        backends.open(1, List.of());
        fill();
        checkpoint(1);
        KeyedContent atLast = content.copy();
        KeyedContent now = content;
        for (long id = 2; id <= 16; id++) {
            if (random.nextInt(3) == 0) {
                backends.dispose();
                backends.open(1, storage.behind(coordinator.lastCompleted()));
                now = atLast.copy();
            }
            now.change(random, backends.all(), random.nextInt(100), random.nextInt(3) * 7000);
            finish(
                    id,
                    backends.begin(
                            id,
                            coordinator.storage(id),
                            random.nextInt(5) == 0
                                    ? CheckpointType.FULL_CHECKPOINT
                                    : CheckpointType.CHECKPOINT));
            atLast = now.copy();
            if (random.nextInt(3) == 0) {
                now.assertIsIn(backends.all());
            }
        }
        now.assertIsIn(backends.all());
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, TestForm.LAZY_CHAIN_SEEDS);
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---------------------------------------------------------------- ownership

    /** NO_CLAIM: the user may delete the source as soon as the first checkpoint is complete. */
    @Test
    void theFirstCheckpointWithoutAClaimOwnsEverything() throws Exception {
        List<KeyedStateHandle> source = runBefore();
        coordinator = new CheckpointCoordinatorModel(directory.resolve("own"));
        Gate gate = storage.holdDownloads();
        backends.open(1, source);
        change(50);
        var part = backends.begin(3, coordinator.storage(3), CheckpointType.FULL_CHECKPOINT).get(0);
        KeyedContent then = content.copy();
        CompletableFuture<Void> first = CompletableFuture.runAsync(part);
        assertThatThrownBy(() -> first.get(LOOK_MILLIS, TimeUnit.MILLISECONDS))
                .as("waits for the files")
                .isInstanceOf(TimeoutException.class);
        change(50); // the task goes on meanwhile
        gate.open();
        first.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        coordinator.acknowledge(3, part.get().getJobManagerOwnedSnapshot());
        coordinator.complete(3);
        backends.completed(3);
        deleteStorage();
        content.assertIsIn(backends.all());
        backends.dispose(); // as if it was killed
        backends.open(1, coordinator.lastCompleted());
        then.assertIsIn(backends.all());
    }

    /** CLAIM: what is there is referred to, and no checkpoint waits for what arrives. */
    @Test
    void aCheckpointWithAClaimRefersToWhatHasNotArrived() throws Exception {
        List<KeyedStateHandle> source = runBefore();
        Gate gate = storage.holdDownloads();
        backends.open(1, source);
        change(50);
        assertThat(uploaded(checkpoint(3).get(0))).hasSize(1).allMatch(n -> n.endsWith(".redo"));
        content.change(random, backends.all(), 1000, 30_000); // more than a log may have
        List<String> base = uploaded(checkpoint(4).get(0));
        assertThat(base).anyMatch(name -> name.endsWith(".index"));
        content.assertIsIn(backends.all());
        assertThat(gate.isOpen()).isFalse();
        KeyedContent then = content.copy();
        change(50);
        backends.dispose(); // killed before it had all
        backends.open(1, coordinator.lastCompleted());
        then.assertIsIn(backends.all());
    }

    @ParameterizedTest
    @EnumSource(SavepointFormatType.class)
    void savepointsAreCompleteWhileFilesArrive(SavepointFormatType format) throws Exception {
        List<KeyedStateHandle> source = runBefore();
        Gate gate = storage.holdDownloads();
        backends.open(1, source);
        change(50);
        KeyedStateHandle savepoint = savepoint(format);
        assertThat(gate.isOpen()).isFalse();
        gate.open();
        backends.dispose();
        backends.open(1, List.of(savepoint));
        content.assertIsIn(backends.all());
    }

    private KeyedStateHandle savepoint(SavepointFormatType format) throws Exception {
        CheckpointCoordinatorModel elsewhere =
                new CheckpointCoordinatorModel(directory.resolve("savepoints"));
        if (format == SavepointFormatType.NATIVE) {
            return IncrementalBackends.finish(
                    backends.begin(9, elsewhere.storage(9), SavepointType.savepoint(format))
                            .get(0));
        }
        return backends.canonical(9, elsewhere.storage(9));
    }

    /** Full checkpoints do not wait for files, so that a restore does. */
    @Test
    void aJobWithFullCheckpointsIsNotRestoredLazily() throws Exception {
        List<KeyedStateHandle> source = runBefore();
        backends.set("execution.checkpointing.incremental", "false");
        backends.open(1, source);
        deleteStorage();
        content.assertIsIn(backends.all());
    }

    // ---------------------------------------------------------------- local recovery, parallelism

    @Test
    void localCopiesBeginWhenAllFilesAreHere() throws Exception {
        List<KeyedStateHandle> last = runBefore();
        Gate gate = storage.holdDownloads();
        backends.open(1, last);
        change(50);
        assertThat(localCopy(3)).isNull();
        gate.open();
        awaitBytesRead(SlowStorage.segmentBytes(last.get(0)));
        awaitNoThreads();
        change(50);
        KeyedStateHandle local = localCopy(4);
        assertThat(local).isNotNull();
        backends.dispose();
        deleteStorage();
        backends.open(1, List.of(local));
        content.assertIsIn(backends.all());
    }

    private KeyedStateHandle localCopy(long id) throws Exception {
        var part = backends.begin(id, coordinator.storage(id)).get(0);
        part.run();
        coordinator.acknowledge(id, part.get().getJobManagerOwnedSnapshot());
        coordinator.complete(id);
        backends.completed(id);
        return part.get().getTaskLocalSnapshot();
    }

    /**
     * All readers of a base together read little more than all of it once: each the parts with its
     * key groups; and what is not needed for the copy is not waited for.
     *
     * @param copies from an old base to a new instance
     */
    @ParameterizedTest
    @CsvSource({"1, 2, 2", "2, 1, 2", "2, 3, 4", "1, 4, 4"})
    void rescalesWhileFilesArrive(int before, int after, int copies) throws Exception {
        backends.open(before, List.of());
        fill();
        checkpoint(1);
        change(200);
        checkpoint(2);
        backends.dispose();
        Gate gate = storage.holdDownloads();
        List<KeyedStateHandle> last = storage.behind(coordinator.lastCompleted());
        backends.open(after, last);
        assertThat(gate.isOpen()).isFalse();
        long all = last.stream().mapToLong(SlowStorage::segmentBytes).sum();
        assertThat(storage.readBytes.get())
                .as("read by all together")
                .isPositive()
                .isLessThanOrEqualTo((long) (1.2 * all) + copies * (512L << 10));
        content.assertIsIn(backends.all());
        deleteStorage(); // nothing is read behind a copy
        content.assertIsIn(backends.all());
        content.change(random, backends.all(), 200, 20);
        content.assertIsIn(backends.all());
    }
}
