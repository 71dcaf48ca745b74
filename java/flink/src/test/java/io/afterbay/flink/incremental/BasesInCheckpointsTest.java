package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bases that checkpoints write themselves, since files in their storage may end with them, as with
 * file merging: the task freezes the store only when little is left to be done for it.
 */
class BasesInCheckpointsTest {
    @TempDir private Path directory;

    private final Random random = new Random(5);
    private final KeyedContent content = new KeyedContent();

    /** Whether the store was prepared, at each time that it was frozen. */
    private final List<Boolean> prepared = new ArrayList<>();

    private CheckpointCoordinatorModel coordinator;
    private IncrementalBackends backends;

    @BeforeEach
    void open() throws Exception {
        coordinator = new CheckpointCoordinatorModel(directory.resolve("checkpoints"));
        backends = new IncrementalBackends(directory.resolve("local"));
        backends.setStores(options -> watched(StateStores.open(options)));
        backends.open(1, List.of());
        change(2000, 20);
        assertThat(hasNewBase(checkpoint(1))).isTrue();
        prepared.clear(); // the first cannot be expected
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
        coordinator.end();
        coordinator.awaitNoFiles();
    }

    private StateStore watched(StateStore store) {
        return (StateStore)
                Proxy.newProxyInstance(
                        BasesInCheckpointsTest.class.getClassLoader(),
                        new Class<?>[] {StateStore.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("snapshot")) {
                                prepared.add(store.isSnapshotPrepared());
                            }
                            return method.invoke(store, arguments);
                        });
    }

    /** A storage that is not Flink's own for file systems. */
    private record Other(CheckpointStreamFactory storage) implements NoDuplicates {
        @Override
        public CheckpointStateOutputStream createCheckpointStateOutputStream(
                CheckpointedStateScope scope) throws IOException {
            return storage.createCheckpointStateOutputStream(scope);
        }
    }

    private void change(int changes, int valueLength) throws Exception {
        content.change(random, backends.all(), changes, valueLength);
    }

    private KeyedStateHandle checkpoint(long id) throws Exception {
        Other storage = new Other(coordinator.storage(id));
        KeyedStateHandle handle = IncrementalBackends.finish(backends.begin(id, storage).get(0));
        coordinator.acknowledge(id, handle);
        coordinator.complete(id);
        backends.completed(id);
        return handle;
    }

    private static boolean hasNewBase(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .filter(f -> !(f.getHandle() instanceof PlaceholderStreamStateHandle))
                        .map(HandleAndLocalPath::getLocalPath)
                        .anyMatch(name -> name.endsWith(Base.INDEX_SUFFIX));
    }

    private void restart() throws Exception {
        backends.dispose();
        backends.open(1, coordinator.lastCompleted());
        content.assertIsIn(backends.all());
    }

    @Test
    void theyWaitUntilTheStoreIsPrepared() throws Exception {
        long id = 2;
        while (backends.gauge("checkpointLogBytes") < 600_000) {
            change(50, 10_000);
            assertThat(hasNewBase(checkpoint(id++))).isFalse();
        }
        change(1, 20); // so little that none is expected
        assertThat(hasNewBase(checkpoint(id++))).isFalse();
        change(400, 10_000);
        change(500, 20);
        assertThat(hasNewBase(checkpoint(id++))).as("due, but not expected").isFalse();
        change(1, 20);
        assertThat(hasNewBase(checkpoint(id++))).as("nothing was prepared since").isFalse();
        change(500, 20);
        assertThat(hasNewBase(checkpoint(id))).isTrue();
        assertThat(prepared).containsExactly(true);
        restart();
    }
}
