package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.ImageFiles;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.testkit.FaultyLocalFiles;
import io.afterbay.store.testkit.FaultyLocalFiles.Fault;
import io.afterbay.store.testkit.FaultyLocalFiles.Operation;
import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Full disks: of the task, where the store fails with it and is restored; and of checkpoint storage
 * or of what only checkpoints need, which costs one checkpoint.
 */
class StorageFaultTest {
    private static final String REASON = "No space left on device";

    /** More than fits in memory. */
    private static final int VALUE_LENGTH_MAX = 200_000;

    @TempDir private Path directory;

    private final FaultyLocalFiles files = new FaultyLocalFiles(LocalFiles.system());
    private final FaultyStores stores = new FaultyStores(files);
    private final KeyedContent content = new KeyedContent();
    private final Random random = new Random(11);
    private CheckpointCoordinatorModel coordinator;
    private IncrementalBackends backends;

    /** Real stores on these files. */
    @SuppressWarnings("serial") // stays in this process
    private static final class FaultyStores implements StoreFactory {
        private final FaultyLocalFiles files;
        private volatile Runnable whenCompacting = () -> {};

        FaultyStores(FaultyLocalFiles files) {
            this.files = files;
        }

        @Override
        public StateStore open(StoreOptions options) {
            return StateStores.open(watched(options));
        }

        @Override
        public StateStore open(StoreOptions options, InputStream index, ImageFiles image) {
            return StateStores.open(watched(options), index, image);
        }

        private StoreOptions watched(StoreOptions options) {
            return new StoreOptions(
                    options.name(),
                    options.directory(),
                    options.files(),
                    options.budget(),
                    options.background(),
                    compaction -> options.compaction().execute(() -> compact(compaction)),
                    options.owner(),
                    options.firstKeyGroup(),
                    options.lastKeyGroup(),
                    options.maxSpaceAmplification(),
                    options.compression());
        }

        private void compact(Runnable compaction) {
            whenCompacting.run();
            compaction.run();
        }

        @Override
        public LocalFiles files() {
            return files;
        }
    }

    @BeforeEach
    void open() throws Exception {
        coordinator = new CheckpointCoordinatorModel(directory.resolve("checkpoints"));
        backends = new IncrementalBackends(directory.resolve("local"));
        backends.set("state.backend.afterbay.memory.managed", "false");
        backends.set("state.backend.afterbay.memory.fixed-per-slot", "8 mb");
        backends.setStores(stores);
        backends.open(1, List.of());
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
        assertThat(LiveTree.files(directory.resolve("local")))
                .as("local files at the end")
                .isEmpty();
        assertThat(files.openFiles()).isZero();
        coordinator.end();
        coordinator.awaitNoFiles();
    }

    private void change(int changes, int valueLength) throws Exception {
        content.change(random, backends.all(), changes, valueLength);
    }

    private KeyedStateHandle checkpoint(long id, CheckpointStreamFactory storage) throws Exception {
        KeyedStateHandle handle = IncrementalBackends.finish(backends.begin(id, storage).get(0));
        coordinator.acknowledge(id, handle);
        coordinator.complete(id);
        backends.completed(id);
        return handle;
    }

    private KeyedStateHandle checkpoint(long id) throws Exception {
        return checkpoint(id, coordinator.storage(id));
    }

    /** A checkpoint that fails as a whole because its log cannot be written, and leaves nothing. */
    private void checkpointWithoutRedo(long id, Operation failing) throws Exception {
        CountDownLatch begun = new CountDownLatch(1); // else it may know, and begin a base
        files.at(failing, file -> isOfRedo(file) && isOpen(begun), Fault.diskFull());
        change(50, 100);
        List<String> before = coordinator.files();
        var part = begin(id);
        begun.countDown();
        assertThatThrownBy(() -> IncrementalBackends.finish(part))
                .hasStackTraceContaining(REASON)
                .hasStackTraceContaining(".redo: cannot write at byte");
        assertThat(coordinator.files()).as("uploads are taken back").isEqualTo(before);
        coordinator.abort(id);
        backends.aborted(id);
    }

    private static boolean isOpen(CountDownLatch gate) {
        try {
            gate.await();
            return true;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void restart() throws Exception {
        backends.dispose();
        backends.open(1, coordinator.lastCompleted());
    }

    private static boolean hasNewBase(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .filter(f -> !(f.getHandle() instanceof PlaceholderStreamStateHandle))
                        .map(HandleAndLocalPath::getLocalPath)
                        .anyMatch(name -> name.endsWith(".index"));
    }

    private static boolean isOfStore(Path file) {
        return file.toString().endsWith(".log");
    }

    private static boolean isOfRedo(Path file) {
        return file.toString().endsWith(".redo");
    }

    /** Until the store says so; the background may be at it. */
    private StateStoreException failureOf(Changes changes) throws Exception {
        AtomicReference<StateStoreException> failure = new AtomicReference<>();
        Await.until(
                "somebody to say that the disk is full",
                () -> {
                    try {
                        changes.run();
                    } catch (StateStoreException e) {
                        failure.set(e);
                    }
                    return failure.get() != null;
                });
        return failure.get();
    }

    private interface Changes {
        void run() throws Exception;
    }

    private void assertSaysAll(StateStoreException failure) {
        assertThat(failure.getMessage())
                .contains(REASON, "restore from its last checkpoint", "make room")
                .containsPattern("byte \\d+")
                .containsPattern("\\d+ of \\d+ bytes are free on this disk");
        assertThat(files.struck().stream().map(Path::toString))
                .anyMatch(path -> failure.getMessage().contains(path));
    }

    /** What every task does with it; then the last checkpoint is all there. */
    private void assertIsRestored(KeyedContent then) throws Exception {
        assertThatThrownBy(() -> change(20, 10)).isInstanceOf(StateStoreException.class);
        assertThatThrownBy(() -> IncrementalBackends.finish(begin(90)))
                .isInstanceOf(Exception.class);
        files.heal();
        restart();
        then.assertIsIn(backends.all());
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> begin(long id) throws Exception {
        return backends.begin(id, coordinator.storage(id)).get(0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFullDiskDuringFlushFailsTheTask(boolean afterRestore) throws Exception {
        change(300, VALUE_LENGTH_MAX);
        checkpoint(1);
        change(50, 1000);
        checkpoint(2);
        KeyedContent then = content.copy();
        if (afterRestore) {
            restart();
        }
        files.at(Operation.WRITE, StorageFaultTest::isOfStore, Fault.diskFull());
        assertSaysAll(failureOf(() -> change(50, VALUE_LENGTH_MAX)));
        assertIsRestored(then);
    }

    @Test
    void aFullDiskDuringCompactionFailsTheTask() throws Exception {
        change(300, VALUE_LENGTH_MAX);
        checkpoint(1);
        KeyedContent then = content.copy();
        stores.whenCompacting =
                () -> {
                    stores.whenCompacting = () -> {};
                    files.at(Operation.WRITE, StorageFaultTest::isOfStore, Fault.diskFull());
                };
        Runnable before = stores.whenCompacting;
        StateStoreException failure = failureOf(() -> change(50, VALUE_LENGTH_MAX));
        assertThat(stores.whenCompacting).as("a compaction began").isNotSameAs(before);
        assertSaysAll(failure);
        assertIsRestored(then);
    }

    /** The image takes files of the store; what fails there is the checkpoint's alone. */
    @Test
    void aFullDiskDuringTheImageFailsThatCheckpointOnly() throws Exception {
        change(100, 100);
        Thread uploading = Thread.currentThread(); // parts of checkpoints run here
        for (long id = 1; id <= 2; id++) {
            var part = begin(id);
            files.at(
                    Operation.WRITE,
                    file -> isOfStore(file) && Thread.currentThread() == uploading,
                    Fault.diskFull());
            assertThatThrownBy(() -> IncrementalBackends.finish(part))
                    .hasStackTraceContaining(REASON)
                    .hasStackTraceContaining("cannot write a base")
                    .hasStackTraceContaining(directory.resolve("local").toString());
            files.heal();
            assertThat(coordinator.files()).isEmpty();
            coordinator.abort(id);
            backends.aborted(id);
            content.assertIsIn(backends.all());
            change(50, 100);
        }
        assertThat(hasNewBase(checkpoint(3))).isTrue();
        restart();
        content.assertIsIn(backends.all());
    }

    /** The next checkpoint begins with a base, for which the log is not needed. */
    @Test
    void aFullDiskDuringTheRedoLogFailsThatCheckpointOnly() throws Exception {
        change(200, 100);
        checkpoint(1);
        change(50, 100);
        checkpoint(2);
        checkpointWithoutRedo(3, Operation.WRITE);
        content.assertIsIn(backends.all());
        change(50, 100);
        assertThat(hasNewBase(checkpoint(4))).isTrue();
        restart();
        content.assertIsIn(backends.all());
        files.heal();
        change(10, 100);
        assertThat(hasNewBase(checkpoint(5))).isFalse();
        restart();
        content.assertIsIn(backends.all());
    }

    @Test
    void aFullDiskDuringTheRedoLogLeavesTheLastCheckpointAsItIs() throws Exception {
        change(200, 100);
        checkpoint(1);
        change(50, 100);
        checkpoint(2);
        KeyedContent then = content.copy();
        checkpointWithoutRedo(3, Operation.CREATE);
        files.heal();
        restart();
        then.assertIsIn(backends.all());
    }

    /** The way out is room on this disk, not another checkpoint. */
    @Test
    void aFullDiskDuringTheRestoreIsSaidSo() throws Exception {
        backends.set("state.backend.afterbay.checkpoint.lazy-restore", "false");
        change(200, 100);
        checkpoint(1);
        backends.dispose();
        files.at(Operation.WRITE, StorageFaultTest::isOfStore, Fault.diskFull());
        assertThatThrownBy(() -> backends.open(1, coordinator.lastCompleted()))
                .hasMessageContaining(REASON)
                .hasMessageContaining("make room")
                .hasMessageContaining(directory.resolve("local").toString());
        files.heal();
        restart();
        content.assertIsIn(backends.all());
    }

    /** The task has begun, and nobody asks for what is being written. */
    @Test
    void aFullDiskDuringTheDownloadBehindItFailsTheTask() throws Exception {
        change(300, VALUE_LENGTH_MAX);
        checkpoint(1);
        KeyedContent then = content.copy();
        backends.dispose();
        CountDownLatch opened = new CountDownLatch(1);
        files.at(
                Operation.WRITE,
                file -> SlowStorage.isDownload() && isOfStore(file) && isOpen(opened),
                Fault.diskFull());
        backends.open(1, coordinator.lastCompleted());
        opened.countDown();
        assertSaysAll(failureOf(() -> change(1, 10)));
        assertIsRestored(then);
    }

    /** A base, an increment and the base that follows: each without each of its files. */
    @ParameterizedTest
    @EnumSource
    void fullCheckpointStorageFailsThatCheckpointOnly(FullStorage.Moment moment) throws Exception {
        long id = failedUntilItFits(1, moment);
        change(50, 100);
        id = failedUntilItFits(id, moment);
        change(300, 50_000); // the log is given up: a base again
        id = failedUntilItFits(id, moment);
        change(20, 100);
        checkpoint(id);
        restart();
        content.assertIsIn(backends.all());
    }

    /** Fails with the first file, the second, and so on, and then succeeds; the next id. */
    private long failedUntilItFits(long first, FullStorage.Moment moment) throws Exception {
        change(200, 100);
        for (int filesBefore = 0; ; filesBefore++) {
            long id = first + filesBefore;
            FullStorage full = new FullStorage(moment, filesBefore);
            var part = backends.begin(id, coordinator.storage(id, full)).get(0);
            part.run();
            if (!full.hasFailed()) {
                assertThat(filesBefore).as("files of the checkpoint").isGreaterThan(1);
                coordinator.acknowledge(id, part.get().getJobManagerOwnedSnapshot());
                coordinator.complete(id);
                backends.completed(id);
                restart();
                content.assertIsIn(backends.all());
                return id + 1;
            }
            assertThatThrownBy(part::get).hasStackTraceContaining(REASON);
            assertUploadsAreTakenBack(full);
            coordinator.abort(id);
            backends.aborted(id);
            if (filesBefore < 2) { // each change is a segment, a file more for the next one
                change(5, 100);
            }
        }
    }

    private static void assertUploadsAreTakenBack(FullStorage full) throws IOException {
        assertThat(full.created()).isNotEmpty();
        for (org.apache.flink.core.fs.Path file : full.created()) {
            assertThat(full.exists(file)).as("%s, of a checkpoint that failed", file).isFalse();
        }
    }
}
