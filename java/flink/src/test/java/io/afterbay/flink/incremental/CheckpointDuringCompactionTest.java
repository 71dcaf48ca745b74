package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A checkpoint whose barrier comes while a compaction has moved a part of a file. */
class CheckpointDuringCompactionTest {
    @TempDir private Path directory;

    private final Random random = new Random(3);
    private final KeyedContent content = new KeyedContent();
    private final HeldCompaction compaction = new HeldCompaction();
    private CheckpointCoordinatorModel coordinator;
    private IncrementalBackends backends;

    @BeforeEach
    void open() throws Exception {
        coordinator = new CheckpointCoordinatorModel(directory.resolve("checkpoints"));
        backends = new IncrementalBackends(directory.resolve("local"));
        backends.set("state.backend.afterbay.memory.managed", "false");
        backends.set("state.backend.afterbay.memory.fixed-per-slot", "1 mb"); // less than the state
        backends.set("state.backend.afterbay.checkpoint.redo-log-size", "64 mb");
        backends.set("state.backend.afterbay.file.compression", "false");
        backends.setStores(compaction);
        backends.open(1, List.of());
    }

    @AfterEach
    void close() throws Exception {
        compaction.close();
        backends.close();
        coordinator.end();
        coordinator.awaitNoFiles();
    }

    private void change(int changes) throws Exception {
        content.change(random, backends.all(), changes, 20_000);
    }

    private void changeUntilCompactionIsHeld() throws Exception {
        while (!compaction.isHeld()) {
            change(100);
        }
    }

    private RunnableFuture<SnapshotResult<KeyedStateHandle>> begin(long id, CheckpointType type)
            throws Exception {
        return backends.begin(id, coordinator.storage(id), type).get(0);
    }

    private void finish(long id, RunnableFuture<SnapshotResult<KeyedStateHandle>> part)
            throws Exception {
        coordinator.acknowledge(id, IncrementalBackends.finish(part));
        coordinator.complete(id);
        backends.completed(id);
    }

    private void assertIsRestored(KeyedContent expected) throws Exception {
        backends.dispose();
        backends.open(1, coordinator.lastCompleted());
        expected.assertIsIn(backends.all());
    }

    /** It is of the log that was written meanwhile, behind a base of before. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anIncrementHasWhatWasThere(boolean isWrittenMeanwhile) throws Exception {
        finish(1, begin(1, CheckpointType.CHECKPOINT));
        assertHasWhatWasThere(CheckpointType.CHECKPOINT, isWrittenMeanwhile);
    }

    /** Its base has pages of the file that is being compacted. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aBaseHasWhatWasThere(boolean isWrittenMeanwhile) throws Exception {
        assertHasWhatWasThere(CheckpointType.FULL_CHECKPOINT, isWrittenMeanwhile);
    }

    private void assertHasWhatWasThere(CheckpointType type, boolean isWrittenMeanwhile)
            throws Exception {
        changeUntilCompactionIsHeld();
        KeyedContent there = content.copy();
        long movedBefore = compaction.stats().relocatedBytes();
        var part = begin(2, type);
        change(50);
        if (isWrittenMeanwhile) {
            finish(2, part);
        }
        compaction.release();
        change(50);
        if (!isWrittenMeanwhile) {
            finish(2, part);
        }
        assertThat(movedBefore).as("bytes moved at the barrier").isPositive();
        assertThat(compaction.stats().relocatedBytes()).isGreaterThan(movedBefore);
        content.assertIsIn(backends.all());
        assertIsRestored(there);
    }
}
