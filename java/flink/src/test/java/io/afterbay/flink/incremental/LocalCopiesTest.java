package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.maintenance.LongTasks;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Incremental checkpoints that are kept on the machine of their task. */
class LocalCopiesTest {
    @TempDir private Path directory;

    private final KeyedContent content = new KeyedContent();
    private final Random random = new Random(7);
    private CheckpointCoordinatorModel coordinator;
    private IncrementalBackends backends;
    private List<KeyedStateHandle> remote = List.of();
    private List<KeyedStateHandle> local = List.of();

    @BeforeEach
    void open() throws Exception {
        coordinator = new CheckpointCoordinatorModel(directory.resolve("checkpoints"));
        backends =
                IncrementalBackends.withLocalRecovery(
                        directory.resolve("local"), directory.resolve("backups"));
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
        assertThat(files("local")).as("local files after the end").isEmpty();
    }

    private List<Path> files(String name) throws IOException {
        return LiveTree.files(directory.resolve(name));
    }

    private void change(int changes) throws Exception {
        content.change(random, backends.all(), changes, 20);
    }

    private void checkpoint(long id) throws Exception {
        remote = new ArrayList<>();
        local = new ArrayList<>();
        for (var part : backends.begin(id, coordinator.storage(id))) {
            part.run();
            SnapshotResult<KeyedStateHandle> result = part.get();
            coordinator.acknowledge(id, result.getJobManagerOwnedSnapshot());
            remote.add(result.getJobManagerOwnedSnapshot());
            if (result.getTaskLocalSnapshot() != null) {
                local.add(result.getTaskLocalSnapshot());
            }
        }
        coordinator.complete(id);
        backends.completed(id);
    }

    private void restart(int parallelism, List<KeyedStateHandle> from) throws Exception {
        backends.dispose();
        backends.open(parallelism, from);
    }

    /** As when the checkpoint storage is far away. */
    private void deleteStorage() throws IOException {
        for (Path file : files("checkpoints")) {
            Files.delete(file);
        }
    }

    private static Path directoryOf(KeyedStateHandle handle) {
        return ((IncrementalLocalKeyedStateHandle) handle).getDirectoryStateHandle().getDirectory();
    }

    private Path fileOf(KeyedStateHandle handle, String suffix) throws IOException {
        try (Stream<Path> all = Files.list(directoryOf(handle))) {
            return all.filter(path -> path.toString().endsWith(suffix)).findFirst().orElseThrow();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void restoresWithoutCheckpointStorage(int parallelism) throws Exception {
        backends.open(parallelism, List.of());
        change(2000);
        checkpoint(1);
        change(200);
        checkpoint(2);
        deleteStorage();
        restart(parallelism, local);
        content.assertIsIn(backends.all());
    }

    /** Negative control of the test above. */
    @Test
    void doesNotRestoreFromAnEmptyStorage() throws Exception {
        backends.open(1, List.of());
        change(200);
        checkpoint(1);
        deleteStorage();
        assertThatThrownBy(() -> restart(1, remote)).hasMessageContaining("could not be opened");
    }

    /** Restored from here or from there, checkpoints go on from the one that was restored. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void goesOnFromTheRestoredCheckpoint(boolean fromLocal) throws Exception {
        backends.open(1, List.of());
        change(2000);
        checkpoint(1);
        change(50);
        checkpoint(2);
        restart(1, fromLocal ? local : coordinator.lastCompleted());
        content.assertIsIn(backends.all());
        change(50);
        checkpoint(3);
        assertThat(((IncrementalRemoteKeyedStateHandle) remote.get(0)).getSharedState())
                .filteredOn(f -> !(f.getHandle() instanceof PlaceholderStreamStateHandle))
                .map(HandleAndLocalPath::getLocalPath)
                .as("uploaded")
                .hasSize(1)
                .allMatch(name -> name.endsWith(".redo"));
        restart(1, coordinator.lastCompleted());
        content.assertIsIn(backends.all());
        change(50);
        checkpoint(4);
        deleteStorage();
        restart(1, local);
        content.assertIsIn(backends.all());
    }

    @Test
    void copiesNothing() throws Exception {
        backends.open(1, List.of());
        content.change(random, backends.all(), 2000, 2000);
        checkpoint(1);
        change(10);
        checkpoint(2);
        assertThat((int) Files.getAttribute(fileOf(local.get(0), ".log"), "unix:nlink"))
                .isGreaterThan(2);
        assertThat((int) Files.getAttribute(fileOf(local.get(0), ".redo"), "unix:nlink"))
                .isGreaterThan(1);
    }

    static Stream<Arguments> chains() {
        return LongStream.rangeClosed(1, TestForm.CHAIN_SEEDS)
                .mapToObj(seed -> Arguments.of(seed, seed % 2 == 0));
    }

    /** Chains of checkpoints with new bases now and then; each can be restored. */
    @ParameterizedTest
    @MethodSource("chains")
    void keepsWhatEachCheckpointNeedsAndNoMore(long seed, boolean isRenewed) throws Exception {
        random.setSeed(seed);
        if (!isRenewed) { // bases are written by checkpoints
            backends.setLongTasks(new LongTasks(0, Runnable::run));
        }
        backends.open(1, List.of());
        for (long id = 1; id <= TestForm.CHAIN_CHECKPOINTS; id++) {
            content.change(random, backends.all(), random.nextInt(200), random.nextInt(4) * 3000);
            checkpoint(id);
            if (isRenewed) { // one begins a base that is due behind it, and one takes it
                checkpoint(++id);
                checkpoint(++id);
            }
            assertThat(local).as("local copies of checkpoint %d", id).hasSize(1);
            if (random.nextInt(3) == 0) {
                restart(1, random.nextBoolean() ? local : coordinator.lastCompleted());
                content.assertIsIn(backends.all());
            }
            awaitDeletions();
            assertThat(kept()).as("kept of checkpoint %d", id).isEqualTo(needed());
        }
    }

    /** Which are in the background. */
    private void awaitDeletions() throws Exception {
        Await.until(
                () -> "deletions: %d are kept, %d are needed".formatted(kept(), needed()),
                this::isDeleted);
    }

    private boolean isDeleted() throws IOException {
        try {
            return kept() <= needed();
        } catch (UncheckedIOException e) { // a file was deleted while the directory was read
            return false;
        }
    }

    private long kept() throws IOException {
        return files("local").stream()
                .filter(file -> file.getParent().toString().endsWith("_kept"))
                .count();
    }

    /** All that is shared, but for the log that this backend has written. */
    private long needed() throws IOException {
        List<Path> local = files("local");
        return ((IncrementalRemoteKeyedStateHandle) remote.get(0))
                .getSharedState().stream()
                        .map(HandleAndLocalPath::getLocalPath)
                        .filter(name -> local.stream().noneMatch(file -> isOwnLog(file, name)))
                        .distinct()
                        .count();
    }

    /** Both begin with the id of the log. */
    private static boolean isOwnLog(Path file, String name) {
        return file.getParent().toString().endsWith("_redo")
                && name.endsWith(".redo")
                && file.getFileName().toString().startsWith(name.substring(0, 36));
    }

    @ParameterizedTest
    @ValueSource(strings = {".index", ".redo", "manifest"})
    void anIncompleteCopyIsRefusedSoThatFlinkTakesTheOther(String suffix) throws Exception {
        backends.open(1, List.of());
        change(200);
        checkpoint(1);
        change(50);
        checkpoint(2);
        Path file = fileOf(local.get(0), suffix);
        Files.write(file, new byte[0]);
        assertThatThrownBy(() -> restart(1, local)).isInstanceOf(BackendBuildingException.class);
        backends.open(1, coordinator.lastCompleted());
        content.assertIsIn(backends.all());
    }

    /** Damage that is found while the job runs must not be restored again and again. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDamagedCopyIsNotRestoredTwice(boolean checkpointBefore) throws Exception {
        backends.open(1, List.of());
        content.change(random, backends.all(), 5000, 30_000);
        checkpoint(1);
        backends.dispose();
        damage(fileOf(local.get(0), ".log"));
        backends.open(1, local);
        if (checkpointBefore) { // its copy shares the damaged files
            checkpoint(2);
        }
        assertThatThrownBy(() -> content.assertIsIn(backends.all()))
                .hasStackTraceContaining("damaged");
        assertThatThrownBy(() -> restart(1, local)).hasStackTraceContaining("manifest");
        backends.open(1, coordinator.lastCompleted());
        content.assertIsIn(backends.all());
    }

    private static void damage(Path file) throws IOException {
        try (RandomAccessFile damaged = new RandomAccessFile(file.toFile(), "rw")) {
            for (long at = 100; at < damaged.length(); at += 512) {
                damaged.seek(at);
                int there = damaged.read();
                damaged.seek(at);
                damaged.write(there ^ 1);
            }
        }
    }

    /** A task that ends does not wait for its upload, which goes on in its own time. */
    @Test
    void whatIsWrittenAfterTheEndIsDeleted() throws Exception {
        Path kept = directory.resolve("local").resolve("kept");
        Path file = Files.createFile(directory.resolve("file"));
        LocalCopies copies =
                new LocalCopies(LocalFiles.system(), kept, null, new CheckpointFigures());
        OutputStream tee = copies.tee("index", OutputStream.nullOutputStream());
        tee.write(1);
        copies.close();
        tee.write(2);
        tee.close();
        assertThat(copies.keepWritten("index")).isNull();
        copies.keep("segment", file);
        copies.tee("late", OutputStream.nullOutputStream()).close();
        assertThat(kept).doesNotExist();
    }

    /** Runs something when the first file is opened. */
    private record Storage(CheckpointStreamFactory storage, Runnable atFirst)
            implements CheckpointStreamFactory {
        @Override
        public CheckpointStateOutputStream createCheckpointStateOutputStream(
                CheckpointedStateScope scope) throws IOException {
            CheckpointStateOutputStream out = storage.createCheckpointStateOutputStream(scope);
            atFirst.run();
            return out;
        }

        @Override
        public boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope)
                throws IOException {
            return storage.canFastDuplicate(handle, scope);
        }

        @Override
        public List<StreamStateHandle> duplicate(
                List<StreamStateHandle> handles, CheckpointedStateScope scope) throws IOException {
            return storage.duplicate(handles, scope);
        }
    }

    @Test
    void aFailedUploadOfABaseLeavesNothing() throws Exception {
        backends.open(1, List.of());
        change(2000);
        var part =
                backends.begin(
                                1,
                                new Storage(
                                        coordinator.storage(1),
                                        () -> {
                                            throw new IllegalStateException("storage is down");
                                        }))
                        .get(0);
        part.run();
        assertThatThrownBy(part::get).hasStackTraceContaining("storage is down");
        assertThat(kept()).isZero();
        checkpoint(2);
        assertThat(local).hasSize(1);
    }

    @Test
    void aDirectoryThatCannotBeWrittenCostsTheLocalCopyOnly() throws Exception {
        Files.delete(directory.resolve("backups"));
        Files.createFile(directory.resolve("backups"));
        backends.open(1, List.of());
        change(200);
        checkpoint(1);
        assertThat(local).isEmpty();
        restart(1, coordinator.lastCompleted());
        content.assertIsIn(backends.all());
    }
}
