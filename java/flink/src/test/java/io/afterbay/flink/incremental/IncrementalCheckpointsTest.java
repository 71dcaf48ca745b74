package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.maintenance.LongTasks;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.RunnableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Chains of incremental checkpoints, against Flink's own registry of shared files. */
class IncrementalCheckpointsTest {
    @TempDir private Path directory;

    private final KeyedContent content = new KeyedContent();
    private final Random random = new Random(42);
    private final List<Thread> threads = new ArrayList<>();
    private CheckpointCoordinatorModel coordinator;
    private IncrementalBackends backends;

    @BeforeEach
    void open() throws Exception {
        coordinator = new CheckpointCoordinatorModel(directory.resolve("checkpoints"));
        backends = new IncrementalBackends(directory.resolve("local"));
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
        try (Stream<Path> left = Files.walk(Files.createDirectories(directory.resolve("local")))) {
            assertThat(left.skip(1)).as("local files after the end").isEmpty();
        }
    }

    private void change(int changes) throws Exception {
        content.change(random, backends.all(), changes, 20);
    }

    private List<KeyedStateHandle> acknowledge(
            long id, List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> parts)
            throws Exception {
        List<KeyedStateHandle> handles = new ArrayList<>();
        for (RunnableFuture<SnapshotResult<KeyedStateHandle>> part : parts) {
            KeyedStateHandle handle = IncrementalBackends.finish(part);
            coordinator.acknowledge(id, handle);
            handles.add(handle);
        }
        return handles;
    }

    private List<KeyedStateHandle> checkpoint(long id) throws Exception {
        List<KeyedStateHandle> handles =
                acknowledge(id, backends.begin(id, coordinator.storage(id)));
        coordinator.complete(id);
        backends.completed(id);
        return handles;
    }

    private void restart(int parallelism) throws Exception {
        backends.dispose();
        backends.open(parallelism, coordinator.lastCompleted());
    }

    private static List<String> uploaded(KeyedStateHandle handle) {
        return ((IncrementalRemoteKeyedStateHandle) handle)
                .getSharedState().stream()
                        .filter(f -> !(f.getHandle() instanceof PlaceholderStreamStateHandle))
                        .map(HandleAndLocalPath::getLocalPath)
                        .toList();
    }

    @Test
    void uploadsOnlyTheLogOfWhatChanged() throws Exception {
        backends.open(1, List.of());
        change(2000);
        assertThat(uploaded(checkpoint(1).get(0))).anyMatch(name -> name.endsWith(".index"));
        change(10);
        assertThat(uploaded(checkpoint(2).get(0))).hasSize(1).allMatch(n -> n.endsWith(".redo"));
        assertThat(uploaded(checkpoint(3).get(0))).as("nothing changed").isEmpty();
        restart(1);
        content.assertIsIn(backends.all());
        change(10);
        assertThat(uploaded(checkpoint(4).get(0)))
                .as("goes on with the base of before the restart")
                .hasSize(1)
                .allMatch(n -> n.endsWith(".redo"));
        restart(1);
        content.assertIsIn(backends.all());
    }

    /** Every way in which a checkpoint can end, two of them under way now and then, and crashes. */
    @ParameterizedTest
    @MethodSource("chains")
    void survivesAllEnds(long seed, boolean isInBackground) throws Exception {
        random.setSeed(seed);
        if (seed % 2 == 1) {
            backends.setPeriodic(); // the first goes on from nothing
        }
        if (isInBackground) {
            backends.setLongTasks(new LongTasks(2, this::begin));
        }
        backends.open(2, List.of());
        KeyedContent atLast = content.copy();
        KeyedContent now = content;
        List<Pending> underWay = new ArrayList<>();
        for (long id = 1; id <= TestForm.CHAIN_CHECKPOINTS; id++) {
            now.change(random, backends.all(), random.nextInt(200), random.nextInt(4) * 2000);
            underWay.add(new Pending(id, backends.begin(id, coordinator.storage(id)), now.copy()));
            if (underWay.size() > 1 || random.nextInt(3) > 0) {
                Pending ending = underWay.remove(0);
                if (end(ending)) {
                    atLast = ending.content;
                }
            }
            if (random.nextInt(10) == 0 && coordinator.hasCompleted()) {
                underWay.clear();
                restart(2);
                now = atLast.copy();
                now.assertIsIn(backends.all());
            }
        }
        now.assertIsIn(backends.all());
        for (Pending pending : underWay) {
            acknowledge(pending.id, pending.parts);
            coordinator.abort(pending.id);
        }
        backends.dispose();
        awaitThreads();
        coordinator.end();
        coordinator.awaitNoFiles();
    }

    /** The later ones have bases that are written in the background. */
    static Stream<Arguments> chains() {
        int seeds = TestForm.CHAIN_SEEDS + TestForm.BACKGROUND_CHAIN_SEEDS;
        return LongStream.rangeClosed(1, seeds)
                .mapToObj(seed -> Arguments.of(seed, seed > TestForm.CHAIN_SEEDS));
    }

    private void begin(Runnable task) {
        Thread thread = new Thread(task);
        threads.add(thread);
        thread.start();
    }

    /** A base that is under way when its task ends is deleted by its thread. */
    private void awaitThreads() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** A checkpoint that was begun, and the content at that moment. */
    private record Pending(
            long id,
            List<RunnableFuture<SnapshotResult<KeyedStateHandle>>> parts,
            KeyedContent content) {}

    /** True if the checkpoint is complete. */
    private boolean end(Pending pending) throws Exception {
        long id = pending.id;
        switch (random.nextInt(8)) {
            case 0 -> { // one task fails after the other has acknowledged
                coordinator.acknowledge(id, IncrementalBackends.finish(pending.parts.get(0)));
                coordinator.abort(id);
                backends.aborted(id);
                pending.parts.get(1).cancel(true);
            }
            case 1 -> { // the message of the abort is lost
                acknowledge(id, pending.parts);
                coordinator.abort(id);
            }
            case 2 -> { // another operator of the chain fails: Flink discards our result here
                for (RunnableFuture<SnapshotResult<KeyedStateHandle>> part : pending.parts) {
                    IncrementalBackends.finish(part).discardState();
                }
                backends.aborted(id);
                coordinator.abort(id);
            }
            case 3 -> { // the message of the completion is lost
                acknowledge(id, pending.parts);
                coordinator.complete(id);
                return true;
            }
            default -> {
                acknowledge(id, pending.parts);
                coordinator.complete(id);
                backends.completed(id);
                return true;
            }
        }
        return false;
    }

    @Test
    void aFullCheckpointNeedsNoFileOfAnother() throws Exception {
        backends.open(1, List.of());
        change(500);
        checkpoint(1);
        change(50);
        checkpoint(2);
        List<String> before = coordinator.files();
        change(50);
        List<KeyedStateHandle> full =
                acknowledge(
                        3,
                        backends.begin(3, coordinator.storage(3), CheckpointType.FULL_CHECKPOINT));
        assertThat(((IncrementalRemoteKeyedStateHandle) full.get(0)).getSharedState())
                .noneMatch(f -> f.getHandle() instanceof PlaceholderStreamStateHandle);
        coordinator.complete(3);
        backends.completed(3);
        assertThat(coordinator.files()).doesNotContainAnyElementsOf(before);
        change(50);
        checkpoint(4);
        restart(1);
        content.assertIsIn(backends.all());
    }

    /**
     * Until a full checkpoint is known to be complete, the files of those before may go any time.
     */
    @Test
    void refersToNothingThatACheckpointUnderWayWouldEnd() throws Exception {
        backends.open(1, List.of());
        change(500);
        checkpoint(1);
        change(50);
        var full = backends.begin(2, coordinator.storage(2), CheckpointType.FULL_CHECKPOINT);
        change(50);
        var next = backends.begin(3, coordinator.storage(3));
        acknowledge(2, full);
        coordinator.complete(2);
        acknowledge(3, next);
        coordinator.complete(3);
        backends.completed(3);
        restart(1);
        content.assertIsIn(backends.all());
    }

    /** Negative control: what the rule of the test above prevents is noticed by the model. */
    @Test
    void theCoordinatorRefusesReferencesToDeletedFiles() throws Exception {
        backends.open(1, List.of());
        change(500);
        checkpoint(1);
        change(50);
        var late = backends.begin(2, coordinator.storage(2));
        KeyedStateHandle handle = IncrementalBackends.finish(late.get(0));
        acknowledge(3, backends.begin(3, coordinator.storage(3), CheckpointType.FULL_CHECKPOINT));
        coordinator.complete(3);
        assertThatThrownBy(() -> coordinator.acknowledge(2, handle))
                .hasMessageContaining("unknown state");
        backends.completed(3);
    }

    @ParameterizedTest
    @CsvSource({"1, 2", "2, 3", "3, 1", "4, 2"})
    void rescales(int before, int after) throws Exception {
        backends.open(before, List.of());
        change(1000);
        checkpoint(1);
        change(200);
        checkpoint(2);
        restart(after);
        content.assertIsIn(backends.all());
        change(200);
        checkpoint(3);
        change(20);
        checkpoint(4);
        restart(before);
        content.assertIsIn(backends.all());
    }

    /** The log of a checkpoint that is not there in time is bounded. */
    @Test
    void beginsANewBaseWhenTheLogIsLong() throws Exception {
        backends.open(1, List.of());
        change(200);
        checkpoint(1);
        content.change(random, backends.all(), 1000, 10_000);
        assertThat(uploaded(checkpoint(2).get(0))).anyMatch(name -> name.endsWith(".index"));
        change(50);
        assertThat(uploaded(checkpoint(3).get(0))).hasSize(1).allMatch(n -> n.endsWith(".redo"));
        restart(1);
        content.assertIsIn(backends.all());
    }

    /** Changes that no log can take; then the log is of use again. */
    @Test
    void goesOnWithALogWhenChangesBecomeFewer() throws Exception {
        backends.open(1, List.of());
        change(200);
        checkpoint(1);
        for (long id = 2; id <= 5; id++) {
            content.change(random, backends.all(), 1000, 10_000);
            assertThat(uploaded(checkpoint(id).get(0))).anyMatch(name -> name.endsWith(".index"));
        }
        change(50);
        assertThat(uploaded(checkpoint(6).get(0))).anyMatch(name -> name.endsWith(".index"));
        change(50);
        assertThat(uploaded(checkpoint(7).get(0))).hasSize(1).allMatch(n -> n.endsWith(".redo"));
        restart(1);
        content.assertIsIn(backends.all());
    }

    /** A log that was given up right behind a base, and a checkpoint that did not end that. */
    @Test
    void neverGoesOnFromABaseBeforeAGap() throws Exception {
        backends.open(1, List.of());
        change(200);
        checkpoint(1);
        content.change(random, backends.all(), 20, 8_000_000);
        var failing = backends.begin(2, coordinator.storage(2));
        coordinator.abort(2);
        backends.aborted(2);
        failing.get(0).cancel(true);
        change(50);
        assertThat(uploaded(checkpoint(3).get(0))).anyMatch(name -> name.endsWith(".index"));
        restart(1);
        content.assertIsIn(backends.all());
    }

    /** An increment that is under way when the log is given up has its segments all the same. */
    @Test
    void aLogThatIsGivenUpStaysForCheckpointsUnderWay() throws Exception {
        backends.open(1, List.of());
        change(200);
        checkpoint(1);
        change(50);
        var underWay = backends.begin(2, coordinator.storage(2));
        KeyedContent then = content.copy();
        content.change(random, backends.all(), 20, 8_000_000);
        var next = backends.begin(3, coordinator.storage(3));
        acknowledge(2, underWay);
        coordinator.complete(2);
        backends.completed(2);
        coordinator.abort(3);
        backends.aborted(3);
        next.get(0).cancel(true);
        restart(1);
        then.assertIsIn(backends.all());
    }

    @Test
    void savepointsAreCompleteInThemselves() throws Exception {
        backends.open(1, List.of());
        change(500);
        checkpoint(1);
        change(50);
        var savepoint =
                backends.begin(
                        2,
                        coordinator.storage(2),
                        SavepointType.savepoint(SavepointFormatType.NATIVE));
        KeyedStateHandle handle = IncrementalBackends.finish(savepoint.get(0));
        assertThat(handle).isInstanceOf(KeyGroupsStateHandle.class);
        change(50);
        assertThat(uploaded(checkpoint(3).get(0))).allMatch(name -> name.endsWith(".redo"));
        restart(1);
        content.assertIsIn(backends.all());
    }

    /** Switching incremental checkpoints off, and on again. */
    @Test
    void goesOnWithFullCheckpointsAndBack() throws Exception {
        backends.open(1, List.of());
        change(500);
        checkpoint(1);
        backends.set("execution.checkpointing.incremental", "false");
        restart(1);
        content.assertIsIn(backends.all());
        change(50);
        assertThat(checkpoint(2).get(0)).isInstanceOf(KeyGroupsStateHandle.class);
        backends.set("execution.checkpointing.incremental", "true");
        restart(1);
        content.assertIsIn(backends.all());
        change(50);
        assertThat(uploaded(checkpoint(3).get(0))).anyMatch(name -> name.endsWith(".index"));
        restart(1);
        content.assertIsIn(backends.all());
    }

    @Test
    void aFailedUploadFailsThatCheckpointOnly() throws Exception {
        backends.open(1, List.of());
        change(500);
        checkpoint(1);
        List<String> before = coordinator.files();
        for (int files = 0; files < 2; files++) {
            change(50);
            var failing = backends.begin(2, new FullDisk(coordinator.storage(2), files));
            assertThatThrownBy(() -> IncrementalBackends.finish(failing.get(0)))
                    .hasStackTraceContaining("No space left on device");
            assertThat(coordinator.files()).as("uploads are taken back").isEqualTo(before);
            coordinator.abort(2);
        }
        change(50);
        assertThat(uploaded(checkpoint(3).get(0))).allMatch(name -> name.endsWith(".redo"));
        restart(1);
        content.assertIsIn(backends.all());
    }

    /** Storage that is full after some files. */
    private static final class FullDisk implements NoDuplicates {
        private final CheckpointStreamFactory storage;
        private int files;

        FullDisk(CheckpointStreamFactory storage, int files) {
            this.storage = storage;
            this.files = files;
        }

        @Override
        public CheckpointStateOutputStream createCheckpointStateOutputStream(
                CheckpointedStateScope scope) throws IOException {
            if (files-- == 0) {
                throw new IOException("No space left on device");
            }
            return storage.createCheckpointStateOutputStream(scope);
        }
    }

    /** Whatever is missing, it is said, and nothing is made up. */
    @Test
    void refusesACheckpointWithoutOneOfItsFiles() throws Exception {
        backends.open(1, List.of());
        change(500);
        checkpoint(1);
        change(50);
        checkpoint(2);
        List<String> files = coordinator.files();
        assertThat(files).hasSizeGreaterThanOrEqualTo(4); // manifest, index, segment, log
        for (String file : files) {
            Path path = directory.resolve("checkpoints").resolve(file);
            byte[] bytes = Files.readAllBytes(path);
            Files.delete(path);
            assertThatThrownBy(() -> restart(1))
                    .hasMessageContaining(path.getFileName().toString());
            if (bytes.length > 60) {
                byte[] damaged = bytes.clone();
                damaged[50] ^= 1;
                Files.write(path, damaged);
                refusesOrReadsRight();
            }
            Files.write(path, bytes);
        }
        restart(1);
        content.assertIsIn(backends.all());
    }

    /** A page that nobody reads is not verified. */
    private void refusesOrReadsRight() {
        try {
            restart(1);
            content.assertIsIn(backends.all());
        } catch (Exception expected) {
            assertThat(expected).hasStackTraceContaining("damaged");
        }
    }
}
