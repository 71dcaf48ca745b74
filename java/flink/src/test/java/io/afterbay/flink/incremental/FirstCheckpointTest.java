package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.LiveTree;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A new job with periodic checkpoints: the first one is an increment of nothing. */
class FirstCheckpointTest {
    @TempDir private Path directory;

    private final KeyedContent content = new KeyedContent();
    private final Random random = new Random(5);
    private CheckpointCoordinatorModel coordinator;
    private IncrementalBackends backends;

    @BeforeEach
    void open() throws Exception {
        coordinator = new CheckpointCoordinatorModel(directory.resolve("checkpoints"));
        backends =
                IncrementalBackends.withLocalRecovery(
                        directory.resolve("local"), directory.resolve("backups"));
        backends.setPeriodic();
        backends.open(1, List.of());
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
        assertThat(LiveTree.files(directory.resolve("local")))
                .as("local files at the end")
                .isEmpty();
        coordinator.end();
        coordinator.awaitNoFiles();
    }

    private void change(int changes, int valueLength) throws Exception {
        content.change(random, backends.all(), changes, valueLength);
    }

    private SnapshotResult<KeyedStateHandle> write(long id, CheckpointType type) throws Exception {
        RunnableFuture<SnapshotResult<KeyedStateHandle>> part =
                backends.begin(id, coordinator.storage(id), type).get(0);
        part.run();
        coordinator.acknowledge(id, part.get().getJobManagerOwnedSnapshot());
        return part.get();
    }

    private SnapshotResult<KeyedStateHandle> checkpoint(long id) throws Exception {
        SnapshotResult<KeyedStateHandle> written = write(id, CheckpointType.CHECKPOINT);
        coordinator.complete(id);
        backends.completed(id);
        return written;
    }

    private static List<String> kinds(SnapshotResult<KeyedStateHandle> checkpoint) {
        return ((IncrementalRemoteKeyedStateHandle) checkpoint.getJobManagerOwnedSnapshot())
                .getSharedState().stream()
                        .map(HandleAndLocalPath::getLocalPath)
                        .map(name -> name.substring(name.lastIndexOf('.')))
                        .toList();
    }

    private void restore(List<KeyedStateHandle> handles, int parallelism) throws Exception {
        backends.dispose();
        backends.open(parallelism, handles);
        content.assertIsIn(backends.all());
    }

    @Test
    void hasTheLogOnly() throws Exception {
        change(300, 1000);
        assertThat(kinds(checkpoint(1))).containsExactly(".index", ".redo");
        restore(coordinator.lastCompleted(), 1);
        change(300, 1000);
        assertThat(kinds(checkpoint(2))).containsExactly(".index", ".redo", ".redo");
        restore(coordinator.lastCompleted(), 3);
    }

    @Test
    void isRestoredFromThisMachine() throws Exception {
        change(300, 1000);
        restore(List.of(checkpoint(1).getTaskLocalSnapshot()), 1);
    }

    @Test
    void mayFail() throws Exception {
        change(300, 100);
        write(1, CheckpointType.CHECKPOINT);
        coordinator.abort(1);
        backends.aborted(1);
        change(300, 100);
        SnapshotResult<KeyedStateHandle> second = checkpoint(2);
        assertThat(kinds(second)).containsExactly(".index", ".redo", ".redo");
        assertThat(second.getTaskLocalSnapshot()).isNotNull();
        change(300, 100);
        assertThat(kinds(checkpoint(3))).hasSize(4);
        restore(coordinator.lastCompleted(), 1);
    }

    /** While the first is not complete, the second has a file of its own of the same name. */
    @Test
    void mayOverlapWithTheSecond() throws Exception {
        change(100, 100);
        write(1, CheckpointType.CHECKPOINT);
        change(100, 100);
        RunnableFuture<SnapshotResult<KeyedStateHandle>> second =
                backends.begin(2, coordinator.storage(2)).get(0);
        coordinator.complete(1);
        backends.completed(1);
        second.run();
        coordinator.acknowledge(2, second.get().getJobManagerOwnedSnapshot());
        coordinator.complete(2);
        backends.completed(2);
        restore(coordinator.lastCompleted(), 1);
    }

    /** A restore would replay as much. */
    @Test
    void hasABaseIfTooMuchHasChanged() throws Exception {
        change(600, 20_000);
        assertThat(kinds(checkpoint(1))).contains(".index", ".log");
        restore(coordinator.lastCompleted(), 1);
    }

    @Test
    void hasABaseIfItIsAFullOne() throws Exception {
        change(300, 1000);
        SnapshotResult<KeyedStateHandle> full = write(1, CheckpointType.FULL_CHECKPOINT);
        coordinator.complete(1);
        backends.completed(1);
        assertThat(kinds(full)).contains(".index", ".log").doesNotContain(".redo");
        restore(coordinator.lastCompleted(), 1);
    }

    @Test
    void getsABaseSoon() throws Exception {
        for (long id = 1; id <= 12; id++) {
            change(40, 20_000);
            checkpoint(id);
        }
        change(40, 20_000);
        assertThat(kinds(checkpoint(13))).contains(".log");
        restore(coordinator.lastCompleted(), 1);
    }
}
