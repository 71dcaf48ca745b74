package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.incremental.SlowStorage.Gate;
import io.afterbay.store.StateStoreException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Restores that go on behind the job, from storage that does what the test wants. */
class LazyRestoreTest {
    private static final String LAZY = "state.backend.afterbay.checkpoint.lazy-restore";
    private static final int PATIENCE_SECONDS = 60;

    /** For what must not happen. */
    private static final int LOOK_MILLIS = 200;

    @TempDir private Path directory;

    private final KeyedContent content = new KeyedContent();
    private final Random random = new Random(42);
    private final SlowStorage storage = new SlowStorage();
    private CheckpointCoordinatorModel coordinator;
    private IncrementalBackends backends;

    @BeforeEach
    void open() throws Exception {
        coordinator = new CheckpointCoordinatorModel(directory.resolve("checkpoints"));
        backends =
                configured(
                        IncrementalBackends.withLocalRecovery(
                                directory.resolve("local"), directory.resolve("backups")));
    }

    /** So that state of some megabytes is in several files. */
    private static IncrementalBackends configured(IncrementalBackends backends) {
        backends.set("state.backend.afterbay.memory.managed", "false");
        backends.set("state.backend.afterbay.memory.fixed-per-slot", "8 mb");
        backends.set("state.backend.afterbay.file.compression", "false");
        backends.set("state.backend.afterbay.checkpoint.transfer-threads", "2");
        return backends;
    }

    @AfterEach
    void close() throws Exception {
        storage.beforeReads((name, closed) -> {});
        backends.close();
        assertThat(files("local")).as("local files after the end").isEmpty();
        eventually(() -> storage.openStreams.get() == 0);
        eventually(LazyRestoreTest::areThreadsGone);
    }

    private static boolean areThreadsGone() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .noneMatch(SlowStorage::isOfRestore);
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            Thread.sleep(5);
        }
    }

    private List<Path> files(String name) throws IOException {
        try (Stream<Path> all = Files.walk(Files.createDirectories(directory.resolve(name)))) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    private void deleteStorage() throws IOException {
        for (Path file : files("checkpoints")) {
            Files.delete(file);
        }
    }

    private void fill() throws Exception {
        content.change(random, backends.all(), 4000, 30_000);
    }

    private void change(int changes) throws Exception {
        content.change(random, backends.all(), changes, 20);
    }

    private List<KeyedStateHandle> checkpoint(long id) throws Exception {
        return finish(id, backends.begin(id, coordinator.storage(id)));
    }

    private List<KeyedStateHandle> finish(
            long id, List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> parts)
            throws Exception {
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (RunnableFuture<SnapshotResult<KeyedStateHandle>> part : parts) {
            KeyedStateHandle handle = IncrementalBackends.finish(part);
            coordinator.acknowledge(id, handle);
            handles.add(handle);
        }
        coordinator.complete(id);
        backends.completed(id);
        return handles;
    }

    /** A job with state that is more than its memory holds, and its last checkpoint, 2. */
    private List<KeyedStateHandle> runBefore() throws Exception {
        backends.open(1, List.of());
        fill();
        checkpoint(1);
        change(50);
        checkpoint(2);
        backends.dispose();
        assertThat(SlowStorage.segmentBytes(coordinator.lastCompleted().get(0)))
                .as("bytes of segments")
                .isGreaterThan(4 << 20);
        return storage.behind(coordinator.lastCompleted());
    }

    private static List<String> uploaded(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .filter(f -> !(f.getHandle() instanceof PlaceholderStreamStateHandle))
                        .map(HandleAndLocalPath::getLocalPath)
                        .toList();
    }

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
        eventually(() -> backends.gauge("restoreMissingBytes") == 0);
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

    private interface Action {
        void run() throws Exception;
    }

    private static Runnable unchecked(Action action) {
        return () -> {
            try {
                action.run();
            } catch (Exception e) {
                throw new IllegalStateException(e.getMessage(), e);
            }
        };
    }

    @Test
    void filesArriveThoughNobodyAsksForThem() throws Exception {
        List<KeyedStateHandle> last = runBefore();
        backends.open(1, last);
        eventually(() -> storage.readBytes.get() >= SlowStorage.segmentBytes(last.get(0)));
        eventually(LazyRestoreTest::areThreadsGone);
        deleteStorage();
        content.assertIsIn(backends.all());
    }

    /** Against plain collections: changes, checkpoints and restarts, whatever has arrived. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void agreesWithTheModelFromSlowStorage(long seed) throws Exception {
        random.setSeed(seed);
        AtomicInteger reads = new AtomicInteger();
        storage.beforeReads(
                (name, closed) -> {
                    if (SlowStorage.isDownload() || reads.incrementAndGet() % 16 == 0) {
                        pause(ThreadLocalRandom.current().nextInt(3));
                    }
                    if (ThreadLocalRandom.current().nextInt(400) == 0) {
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

    // ---------------------------------------------------------------- failures

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFileThatCannotBeDownloadedFailsTheTask(boolean isRead) throws Exception {
        List<KeyedStateHandle> last = runBefore();
        Gate gate = storage.holdDownloads();
        backends.open(1, last);
        storage.beforeReads(
                (name, closed) -> {
                    if (SlowStorage.isDownload() != isRead) {
                        throw new FileNotFoundException("no such object in the bucket");
                    }
                    gate.pass(closed);
                });
        if (!isRead) {
            gate.open();
        }
        StateStoreException failure = failureOf(() -> content.assertIsIn(backends.all()));
        assertThat(failure.getMessage())
                .containsPattern("cannot download \\d+\\.log of incremental checkpoint 2")
                .contains("slow File State", "no such object in the bucket")
                .contains("must restore from its last checkpoint");
        assertThatThrownBy(() -> checkpoint(3)).isInstanceOf(Exception.class);
        storage.beforeReads((name, closed) -> {});
        backends.dispose();
        backends.open(1, last);
        content.assertIsIn(backends.all());
    }

    private StateStoreException failureOf(Action action) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (System.nanoTime() < deadline) {
            try {
                action.run();
            } catch (StateStoreException e) {
                return e;
            }
        }
        throw new AssertionError("a file is missing, and nobody says so");
    }

    @Test
    void someFailuresOfStorageAreSurvived() throws Exception {
        List<KeyedStateHandle> last = runBefore();
        AtomicInteger download = new AtomicInteger();
        AtomicInteger demand = new AtomicInteger();
        storage.beforeReads(
                (name, closed) -> {
                    AtomicInteger failures = SlowStorage.isDownload() ? download : demand;
                    if (failures.incrementAndGet() <= 2) {
                        throw new IOException("connection reset");
                    }
                });
        backends.open(1, last);
        content.assertIsIn(backends.all());
        eventually(() -> download.get() > 2);
        assertThat(demand.get()).isGreaterThan(2);
    }

    /** A task is cancelled while storage does not answer, not even to the closing of streams. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cancellingWaitsForNoStorage(boolean closingHelps) throws Exception {
        List<KeyedStateHandle> last = runBefore();
        Gate gate = storage.holdDownloads();
        backends.open(1, last);
        assertThat(gate.reached.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        var snapshot =
                backends.begin(3, coordinator.storage(3), CheckpointType.FULL_CHECKPOINT).get(0);
        Gate all = new Gate();
        CountDownLatch never = new CountDownLatch(1);
        storage.beforeReads((name, closed) -> all.pass(closingHelps ? closed : never));
        CompletableFuture<Void> task =
                CompletableFuture.runAsync(unchecked(() -> content.assertIsIn(backends.all())));
        CompletableFuture<Void> checkpoint = CompletableFuture.runAsync(snapshot);
        assertThat(all.reached.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        backends.all().get(0).backend().close(); // by the thread that cancels
        assertThatThrownBy(() -> task.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .hasStackTraceContaining("cancelled with its task");
        checkpoint.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThatThrownBy(snapshot::get).isInstanceOf(Exception.class);
        CompletableFuture.runAsync(backends::dispose).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(files("local")).isEmpty();
        gate.open();
        all.open();
        eventually(LazyRestoreTest::areThreadsGone);
        assertThat(files("local")).as("after late answers").isEmpty();
        coordinator.abort(3);
        backends.open(1, last);
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
        eventually(() -> storage.readBytes.get() >= SlowStorage.segmentBytes(last.get(0)));
        eventually(LazyRestoreTest::areThreadsGone);
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
     * Nothing is read twice, and what is not needed for the copy is not waited for.
     *
     * @param readers of each old base, at most
     */
    @ParameterizedTest
    @CsvSource({"1, 2, 2", "2, 1, 1", "2, 3, 2"})
    void rescalesWhileFilesArrive(int before, int after, int readers) throws Exception {
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
                .isLessThanOrEqualTo(readers * all);
        content.assertIsIn(backends.all());
        deleteStorage(); // nothing is read behind a copy
        content.assertIsIn(backends.all());
        content.change(random, backends.all(), 200, 20);
        content.assertIsIn(backends.all());
    }
}
