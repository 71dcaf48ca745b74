package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.testkit.FaultyLocalFiles;
import io.afterbay.store.testkit.FaultyLocalFiles.Fault;
import io.afterbay.store.testkit.FaultyLocalFiles.Operation;
import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that is slower than the job: the task waits for it, and metrics say so. */
class SlowDiskTest {
    @TempDir private Path directory;

    private final FaultyLocalFiles files = new FaultyLocalFiles(LocalFiles.system());
    private final KeyedContent content = new KeyedContent();
    private CheckpointCoordinatorModel coordinator;
    private IncrementalBackends backends;

    private void open(String memory) throws Exception {
        coordinator = new CheckpointCoordinatorModel(directory.resolve("checkpoints"));
        backends = new IncrementalBackends(directory.resolve("local"));
        backends.set("state.backend.afterbay.memory.managed", "false");
        backends.set("state.backend.afterbay.memory.fixed-per-slot", memory);
        backends.set("state.backend.afterbay.checkpoint.redo-log-size", "64 mb");
        backends.set("state.backend.afterbay.file.compression", "false");
        backends.setStores(
                new StoreFactory() {
                    private static final long serialVersionUID = 1;

                    @Override
                    public StateStore open(StoreOptions options) {
                        return StateStores.open(options);
                    }

                    @Override
                    public LocalFiles files() {
                        return files;
                    }
                });
        backends.open(1, List.of());
    }

    @AfterEach
    void close() throws Exception {
        backends.close();
    }

    private void checkpoint(long id) throws Exception {
        coordinator.acknowledge(
                id, IncrementalBackends.finish(backends.begin(id, coordinator.storage(id)).get(0)));
        coordinator.complete(id);
        backends.completed(id);
    }

    private void change() throws Exception {
        content.change(new Random(1), backends.all(), 5000, 20_000);
    }

    private static boolean isOfLog(Path file) {
        return file.toString().endsWith(".redo");
    }

    @Test
    void theTaskWaitsForTheStoresFilesAndAMetricSaysSo() throws Exception {
        open("1 mb"); // less than the state
        checkpoint(1);
        assertThat(backends.gauge("writeStalls")).isZero();
        files.at(Operation.WRITE, f -> !isOfLog(f), new Fault.Wait(Duration.ofMillis(1)));
        Await.until(
                "the task to wait for the disk",
                () -> {
                    change();
                    return backends.gauge("writeStalls") > 0;
                });
        files.heal();
        checkpoint(2);
        assertThat(backends.gauge("writeStallNanos")).isPositive();
        content.assertIsIn(backends.all());
    }

    @Test
    void theTaskWaitsForItsLogAndAMetricSaysSo() throws Exception {
        open("8 mb");
        checkpoint(1);
        assertThat(backends.gauge("checkpointLogStalls")).isZero();
        AtomicLong id = new AtomicLong(1);
        Await.until(
                "the task to wait for its log",
                () -> {
                    files.at(
                            Operation.WRITE,
                            SlowDiskTest::isOfLog,
                            new Fault.Wait(Duration.ofMillis(3)));
                    change();
                    files.heal();
                    checkpoint(id.incrementAndGet()); // which tells what came before it
                    return backends.gauge("checkpointLogStalls") > 0;
                });
        content.assertIsIn(backends.all());
    }
}
