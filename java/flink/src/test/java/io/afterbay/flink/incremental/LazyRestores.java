package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A job that restores from storage that does what the test wants. */
abstract class LazyRestores {
    static final String LAZY = "state.backend.afterbay.checkpoint.lazy-restore";
    static final long PATIENCE_SECONDS = Await.DEADLINE.toSeconds();

    /** For what must not happen. */
    static final int LOOK_MILLIS = 200;

    @TempDir Path directory;

    final KeyedContent content = new KeyedContent();
    final Random random = new Random(42);
    final SlowStorage storage = new SlowStorage();
    CheckpointCoordinatorModel coordinator;
    IncrementalBackends backends;

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
        awaitNoStreams();
        awaitNoThreads();
    }

    /** Others want their connections. */
    void awaitNoStreams() throws Exception {
        Await.until(
                () -> storage.openStreams + " streams to be closed",
                () -> storage.openStreams.get() == 0);
    }

    /** Downloaded by threads that nobody asked, or read on demand. */
    void awaitBytesRead(long bytes) throws Exception {
        Await.until(
                () -> "%d bytes from storage; %s are read".formatted(bytes, storage.readBytes),
                () -> storage.readBytes.get() >= bytes);
    }

    static void awaitNoThreads() throws Exception {
        Await.until("the threads of a restore to end", LazyRestores::areThreadsGone);
    }

    private static boolean areThreadsGone() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .noneMatch(SlowStorage::isOfRestore);
    }

    List<Path> files(String name) throws IOException {
        return LiveTree.files(directory.resolve(name));
    }

    void deleteStorage() throws IOException {
        for (Path file : files("checkpoints")) {
            Files.delete(file);
        }
    }

    void fill() throws Exception {
        content.change(random, backends.all(), 4000, 30_000);
    }

    void change(int changes) throws Exception {
        content.change(random, backends.all(), changes, 20);
    }

    List<KeyedStateHandle> checkpoint(long id) throws Exception {
        return finish(id, backends.begin(id, coordinator.storage(id)));
    }

    List<KeyedStateHandle> finish(
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
    List<KeyedStateHandle> runBefore() throws Exception {
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

    static List<String> uploaded(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .filter(f -> !(f.getHandle() instanceof PlaceholderStreamStateHandle))
                        .map(HandleAndLocalPath::getLocalPath)
                        .toList();
    }

    interface Action {
        void run() throws Exception;
    }

    static Runnable unchecked(Action action) {
        return () -> {
            try {
                action.run();
            } catch (Exception e) {
                throw new IllegalStateException(e.getMessage(), e);
            }
        };
    }
}
