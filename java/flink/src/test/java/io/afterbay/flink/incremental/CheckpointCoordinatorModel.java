package io.afterbay.flink.incremental;

import io.afterbay.testing.Await;
import io.afterbay.testing.LiveTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.util.InstantiationUtil;
import org.jspecify.annotations.Nullable;

/**
 * The JobManager's side of checkpoints in a directory, with Flink's own registry of shared state:
 * one completed checkpoint is kept. Handles go through serialisation, as between processes.
 */
final class CheckpointCoordinatorModel {
    private final Path directory;
    private final SharedStateRegistryImpl registry = new SharedStateRegistryImpl(Runnable::run);
    private final Map<Long, List<KeyedStateHandle>> acknowledged = new HashMap<>();
    private @Nullable Long completed;

    CheckpointCoordinatorModel(Path directory) throws IOException {
        this.directory = directory;
        Files.createDirectories(shared());
    }

    private Path shared() {
        return directory.resolve("shared");
    }

    /** Where the files of a checkpoint go. */
    CheckpointStreamFactory storage(long id) throws IOException {
        return storage(id, new LocalFileSystem());
    }

    CheckpointStreamFactory storage(long id, FileSystem files) throws IOException {
        Path exclusive = Files.createDirectories(directory.resolve("chk-" + id));
        return new FsCheckpointStreamFactory(
                files,
                new org.apache.flink.core.fs.Path(exclusive.toUri()),
                new org.apache.flink.core.fs.Path(shared().toUri()),
                0,
                4096);
    }

    /** A task has finished its part of a checkpoint; throws if that refers to unknown files. */
    void acknowledge(long id, KeyedStateHandle handle) throws Exception {
        KeyedStateHandle received = InstantiationUtil.clone(handle);
        received.registerSharedStates(registry, id);
        acknowledged.computeIfAbsent(id, none -> new ArrayList<>()).add(received);
    }

    /** All tasks have; the checkpoint before is subsumed. */
    void complete(long id) throws Exception {
        Long subsumed = completed;
        completed = id;
        registry.checkpointCompleted(id);
        registry.unregisterUnusedState(id);
        if (subsumed != null) {
            discard(subsumed);
        }
    }

    /** Some task has not; what was acknowledged is deleted, but for what is shared. */
    void abort(long id) throws Exception {
        discard(id);
    }

    private void discard(long id) throws Exception {
        for (KeyedStateHandle handle : acknowledged.getOrDefault(id, List.of())) {
            handle.discardState();
        }
        acknowledged.remove(id);
        Files.deleteIfExists(directory.resolve("chk-" + id));
    }

    boolean hasCompleted() {
        return completed != null;
    }

    /** What a restarted job is given. */
    List<KeyedStateHandle> lastCompleted() throws Exception {
        List<KeyedStateHandle> handles = new ArrayList<>();
        if (completed != null) {
            for (KeyedStateHandle handle : acknowledged.get(completed)) {
                handles.add(InstantiationUtil.clone(handle));
            }
        }
        return handles;
    }

    /** As when a job restores a checkpoint that it claims. */
    void claim(long id, List<KeyedStateHandle> handles) throws Exception {
        for (KeyedStateHandle handle : handles) {
            acknowledge(id, handle);
        }
        completed = id;
        registry.checkpointCompleted(id);
    }

    /** The end of the job: nothing is kept. */
    void end() throws Exception {
        if (completed != null) {
            discard(completed);
            completed = null;
        }
        registry.unregisterUnusedState(Long.MAX_VALUE);
    }

    /** Waits until tasks have deleted theirs, which they may do in the background: none is left. */
    void awaitNoFiles() throws Exception {
        Await.until(
                () -> "files to be deleted that nobody has: " + files(), () -> files().isEmpty());
    }

    /** Files in storage, by their paths relative to it. */
    List<String> files() throws IOException {
        return LiveTree.files(directory).stream()
                .map(path -> directory.relativize(path).toString())
                .sorted()
                .toList();
    }
}
