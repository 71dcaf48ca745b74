package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.maintenance.LongTasks;
import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.runtime.checkpoint.CheckpointType;
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
import org.junit.jupiter.params.provider.ValueSource;

/** Bases that are written, and logs that are uploaded, while no checkpoint is under way. */
class RenewalsTest {
    @TempDir private Path directory;

    private final Random random = new Random(5);
    private final KeyedContent content = new KeyedContent();
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private CheckpointCoordinatorModel coordinator;
    private IncrementalBackends backends;

    private final SwitchedStorage storage = new SwitchedStorage();

    @BeforeEach
    void open() throws Exception {
        coordinator = new CheckpointCoordinatorModel(directory.resolve("checkpoints"));
        backends = new IncrementalBackends(directory.resolve("local"));
        backends.setLongTasks(new LongTasks(1, tasks::add));
        backends.open(1, List.of());
        change(2000);
        assertThat(uploaded(checkpoint(1))).anyMatch(RenewalsTest::isIndex);
    }

    @AfterEach
    void close() throws Exception {
        runTasks();
        backends.close();
        coordinator.end();
        coordinator.awaitNoFiles();
    }

    private void change(int changes) throws Exception {
        content.change(random, backends.all(), changes, 20);
    }

    /** Enough for a segment of the log, and not too much for the log. */
    private void changeMuch() throws Exception {
        content.change(random, backends.all(), 300, 10_000);
    }

    private void runTasks() {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    private KeyedStateHandle checkpoint(long id) throws Exception {
        KeyedStateHandle handle = acknowledge(id, begin(id));
        complete(id);
        return handle;
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> begin(long id) throws Exception {
        return backends.begin(id, coordinator.storage(id, storage)).get(0);
    }

    private KeyedStateHandle acknowledge(
            long id, RunnableFuture<SnapshotResult<KeyedStateHandle>> part) throws Exception {
        KeyedStateHandle handle = IncrementalBackends.finish(part);
        coordinator.acknowledge(id, handle);
        return handle;
    }

    private void complete(long id) throws Exception {
        coordinator.complete(id);
        backends.completed(id);
    }

    private void abort(long id) throws Exception {
        coordinator.abort(id);
        backends.aborted(id);
    }

    private void restart() throws Exception {
        backends.dispose();
        backends.open(1, coordinator.lastCompleted());
        content.assertIsIn(backends.all());
    }

    private static boolean isIndex(String name) {
        return name.endsWith(Base.INDEX_SUFFIX);
    }

    private static List<String> uploaded(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .filter(f -> !(f.getHandle() instanceof PlaceholderStreamStateHandle))
                        .map(HandleAndLocalPath::getLocalPath)
                        .toList();
    }

    private void assertIsIncrement(KeyedStateHandle handle) {
        assertThat(uploaded(handle)).isNotEmpty().allMatch(name -> name.endsWith(".redo"));
    }

    /** Checkpoints until a renewal has begun; the next id. */
    private long makeDue(long first) throws Exception {
        long id = first;
        while (tasks.isEmpty()) {
            content.change(random, backends.all(), 150, 10_000);
            assertIsIncrement(checkpoint(id++));
        }
        return id;
    }

    @Test
    void checkpointsAreIncrementsUntilTheNewBaseIsThere() throws Exception {
        long id = makeDue(2);
        change(50);
        assertIsIncrement(checkpoint(id++));
        long filesBefore = coordinator.files().size();
        runTasks();
        assertThat(backends.gauge("checkpointEarlyFiles")).isPositive();
        change(50);
        List<String> uploaded = uploaded(checkpoint(id++));
        assertThat(uploaded).anyMatch(RenewalsTest::isIndex);
        assertThat(backends.gauge("checkpointEarlyFiles")).isZero();
        assertThat(coordinator.files().size())
                .as("the long log is gone")
                .isLessThan((int) filesBefore);
        change(50);
        assertIsIncrement(checkpoint(id));
        restart();
    }

    /** Else the task would wait while it writes to trees what is only in memory. */
    @Test
    void aRenewalWaitsUntilTheStoreIsPrepared() throws Exception {
        long id = 2;
        while (backends.gauge("checkpointLogBytes") < 600_000) {
            content.change(random, backends.all(), 50, 10_000);
            assertIsIncrement(checkpoint(id++));
        }
        change(1); // so little that none is expected
        assertIsIncrement(checkpoint(id++));
        content.change(random, backends.all(), 400, 10_000);
        change(500);
        assertIsIncrement(checkpoint(id++));
        change(1);
        assertIsIncrement(checkpoint(id++));
        assertThat(tasks).as("due, but nothing was prepared since").isEmpty();
        change(500);
        assertIsIncrement(checkpoint(id));
        assertThat(tasks).hasSize(1);
        runTasks();
        restart();
    }

    /** What was written behind the checkpoints is all that a restore has. */
    @Test
    void aRestoreFromTheNewBaseHasAll() throws Exception {
        long id = makeDue(2);
        content.change(random, backends.all(), 300, 1000); // while it is written
        runTasks();
        change(50);
        assertThat(uploaded(checkpoint(id))).anyMatch(RenewalsTest::isIndex);
        restart();
        change(50);
        assertIsIncrement(checkpoint(id + 1));
        restart();
    }

    @Test
    void aRestartWhileItIsWrittenLosesTheNewBaseOnly() throws Exception {
        makeDue(2);
        Thread late = new Thread(tasks.remove());
        Thread ending = new Thread(backends::dispose);
        ending.start();
        late.start();
        ending.join();
        late.join();
        backends.open(1, coordinator.lastCompleted());
        content.assertIsIn(backends.all());
    }

    /** As when the object store does not answer. */
    @Test
    void aTaskThatEndsWaitsForNoUpload() throws Exception {
        makeDue(2);
        storage.state = SwitchedStorage.State.HANGS;
        Thread renewal = new Thread(tasks.remove());
        renewal.start();
        storage.reached.await();
        backends.dispose();
        storage.endHanging();
        renewal.join();
        backends.open(1, coordinator.lastCompleted());
    }

    @Test
    void segmentsOfTheLogAreUploadedBetweenCheckpoints() throws Exception {
        change(50);
        checkpoint(2);
        int files = coordinator.files().size();
        changeMuch();
        awaitEarlyFiles();
        assertThat(coordinator.files()).hasSizeGreaterThan(files);
        List<String> before = coordinator.files();
        KeyedStateHandle handle = checkpoint(3);
        assertThat(uploaded(handle)).hasSizeGreaterThan(1).allMatch(n -> n.endsWith(".redo"));
        assertThat(coordinator.files()).as("uploaded once").containsAll(shared(before));
        assertThat(backends.gauge("checkpointEarlyFiles")).isZero();
        assertIsIncrement(checkpointAfter(4, 50));
        restart();
    }

    /** Which are deleted in the background. */
    private void awaitNoEarlyFiles() throws Exception {
        Await.until("early files to go", () -> backends.gauge("checkpointEarlyFiles") == 0);
    }

    private void awaitEarlyFiles() throws Exception {
        Await.until("early files", () -> backends.gauge("checkpointEarlyFiles") > 0);
    }

    private KeyedStateHandle checkpointAfter(long id, int changes) throws Exception {
        change(changes);
        return checkpoint(id);
    }

    private static List<String> shared(List<String> files) {
        return files.stream().filter(file -> file.startsWith("shared/")).toList();
    }

    @Test
    void aTaskThatEndsWaitsForNoSegmentOfTheLog() throws Exception {
        List<String> files = coordinator.files();
        storage.state = SwitchedStorage.State.HANGS;
        changeMuch();
        storage.reached.await();
        backends.dispose();
        storage.endHanging();
        awaitNoFiles(files);
        backends.open(1, coordinator.lastCompleted());
    }

    private void awaitNoFiles(List<String> but) throws Exception {
        Await.until(
                () -> "no files but %s; there are %s".formatted(but, coordinator.files()),
                () -> coordinator.files().equals(but));
    }

    @Test
    void aSegmentThatCouldNotBeUploadedIsUploadedByTheCheckpoint() throws Exception {
        storage.state = SwitchedStorage.State.FULL;
        changeMuch();
        storage.reached.await();
        storage.state = SwitchedStorage.State.WORKS;
        assertIsIncrement(checkpoint(2));
        restart();
    }

    /** The files of an aborted checkpoint may have gone with it. */
    @Test
    void aCheckpointThatIsAbortedTakesTheNewBaseWithIt() throws Exception {
        long id = makeDue(2);
        runTasks();
        change(50);
        KeyedStateHandle taken = IncrementalBackends.finish(begin(id));
        assertThat(uploaded(taken)).anyMatch(RenewalsTest::isIndex);
        taken.discardState(); // another operator of the chain has failed
        abort(id++);
        id = makeDue(id);
        assertThat(tasks).as("another one begins").hasSize(1);
        runTasks();
        assertThat(uploaded(checkpoint(id))).anyMatch(RenewalsTest::isIndex);
        restart();
    }

    /** It never said what it had. */
    @Test
    void aCheckpointThatFailsHereLeavesTheNewBaseToTheNext() throws Exception {
        long id = makeDue(2);
        runTasks();
        change(50);
        storage.state = SwitchedStorage.State.FULL;
        var failing = begin(id);
        assertThatThrownBy(() -> IncrementalBackends.finish(failing))
                .hasStackTraceContaining("No space left on device");
        abort(id++);
        storage.state = SwitchedStorage.State.WORKS;
        long bases = backends.gauge("checkpointBases");
        assertThat(uploaded(checkpoint(id))).anyMatch(RenewalsTest::isIndex);
        assertThat(backends.gauge("checkpointBases")).as("the same").isEqualTo(bases);
        restart();
    }

    @Test
    void aCheckpointThatWasCancelledBeforeItRanLeavesTheNewBaseToTheNext() throws Exception {
        long id = makeDue(2);
        runTasks();
        begin(id).cancel(true);
        abort(id++);
        long bases = backends.gauge("checkpointBases");
        assertThat(uploaded(checkpoint(id))).anyMatch(RenewalsTest::isIndex);
        assertThat(backends.gauge("checkpointBases")).as("the same").isEqualTo(bases);
        restart();
    }

    /**
     * Its storage hangs and it expires; the next one expires, too, and began the log anew. When it
     * fails at last, there is nothing that goes on from its base.
     */
    @Test
    void aNewBaseThatComesBackBehindANewLogIsOfNoUse() throws Exception {
        long id = makeDue(2);
        runTasks();
        change(50);
        long hanging = id++;
        var late = begin(hanging);
        storage.state = SwitchedStorage.State.HANGS;
        Thread ending =
                new Thread(
                        () ->
                                assertThatThrownBy(() -> IncrementalBackends.finish(late))
                                        .isInstanceOf(Exception.class));
        ending.start();
        storage.reached.await();
        abort(hanging);
        content.change(random, backends.all(), 500, 50_000); // more than a log may have
        begin(id).cancel(true);
        abort(id++);
        var own = begin(id);
        storage.endHanging();
        ending.join();
        assertThat(uploaded(acknowledge(id, own))).anyMatch(RenewalsTest::isIndex);
        complete(id++);
        change(50);
        assertIsIncrement(checkpoint(id));
        restart();
    }

    /** Which says why, if it fails too. */
    @Test
    void afterAFailureACheckpointWritesTheBase() throws Exception {
        long id = makeDue(2);
        storage.state = SwitchedStorage.State.FULL;
        runTasks();
        storage.state = SwitchedStorage.State.WORKS;
        assertThat(backends.gauge("checkpointEarlyFiles")).isZero();
        change(50);
        assertThat(uploaded(checkpoint(id++))).anyMatch(RenewalsTest::isIndex);
        assertThat(tasks).isEmpty();
        makeDue(id);
        assertThat(tasks).as("the next one is tried again").hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFullCheckpointEndsARenewal(boolean isWritten) throws Exception {
        long id = makeDue(2);
        if (isWritten) {
            runTasks();
        }
        change(50);
        var full = backends.begin(id, coordinator.storage(id), CheckpointType.FULL_CHECKPOINT);
        acknowledge(id, full.get(0));
        complete(id++);
        runTasks();
        awaitNoEarlyFiles();
        change(50);
        assertIsIncrement(checkpoint(id));
        restart();
    }

    /** One that hangs must not let the log grow for ever. */
    @Test
    void aCheckpointWritesABaseThatIsOverdue() throws Exception {
        long id = makeDue(2);
        List<String> uploaded = List.of();
        for (int i = 0; i < 20 && uploaded.stream().noneMatch(RenewalsTest::isIndex); i++) {
            content.change(random, backends.all(), 150, 10_000);
            uploaded = uploaded(checkpoint(id++));
        }
        assertThat(uploaded).anyMatch(RenewalsTest::isIndex);
        runTasks();
        change(50);
        assertIsIncrement(checkpoint(id));
        restart();
    }
}
