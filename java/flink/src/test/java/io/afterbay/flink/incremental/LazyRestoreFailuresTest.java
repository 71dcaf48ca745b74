package io.afterbay.flink.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.flink.incremental.SlowStorage.Gate;
import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.ImageFiles;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.page.Memory;
import io.afterbay.testing.Await;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lazy restores that fail, or whose task is cancelled. */
class LazyRestoreFailuresTest extends LazyRestores {
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFileThatCannotBeDownloadedFailsTheTask(boolean isRead) throws Exception {
        List<KeyedStateHandle> last = runBefore();
        Gate gate = storage.holdDownloads();
        backends.open(1, last);
        storage.beforeReads(
                (name, closed) -> {
                    if (SlowStorage.isDownload() != isRead) {
                        throw new FileNotFoundException("no such object in the bucket");
                    }
                    gate.pass(closed);
                });
        if (!isRead) {
            gate.open();
        }
        StateStoreException failure = failureOf(() -> content.assertIsIn(backends.all()));
        assertThat(failure.getMessage())
                .containsPattern("cannot download \\d+\\.log of incremental checkpoint 2")
                .contains("slow File State", "no such object in the bucket")
                .contains("must restore from its last checkpoint");
        assertThatThrownBy(() -> checkpoint(3)).isInstanceOf(Exception.class);
        storage.beforeReads((name, closed) -> {});
        backends.dispose();
        backends.open(1, last);
        content.assertIsIn(backends.all());
    }

    private StateStoreException failureOf(Action action) throws Exception {
        AtomicReference<StateStoreException> failure = new AtomicReference<>();
        Await.until(
                "somebody to say that a file is missing",
                () -> {
                    try {
                        action.run();
                    } catch (StateStoreException e) {
                        failure.set(e);
                    }
                    return failure.get() != null;
                });
        return failure.get();
    }

    @Test
    void someFailuresOfStorageAreSurvived() throws Exception {
        List<KeyedStateHandle> last = runBefore();
        AtomicInteger download = new AtomicInteger();
        AtomicInteger demand = new AtomicInteger();
        storage.beforeReads(
                (name, closed) -> {
                    AtomicInteger failures = SlowStorage.isDownload() ? download : demand;
                    if (failures.incrementAndGet() <= 2) {
                        throw new IOException("connection reset");
                    }
                });
        backends.open(1, last);
        content.assertIsIn(backends.all());
        Await.until("a third download", () -> download.get() > 2);
        assertThat(demand.get()).isGreaterThan(2);
    }

    /** A task is cancelled while storage does not answer, not even to the closing of streams. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cancellingWaitsForNoStorage(boolean closingHelps) throws Exception {
        List<KeyedStateHandle> last = runBefore();
        Gate gate = storage.holdDownloads();
        backends.open(1, last);
        assertThat(gate.reached.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        var snapshot =
                backends.begin(3, coordinator.storage(3), CheckpointType.FULL_CHECKPOINT).get(0);
        Gate all = new Gate();
        CountDownLatch never = new CountDownLatch(1);
        storage.beforeReads((name, closed) -> all.pass(closingHelps ? closed : never));
        CompletableFuture<Void> task =
                CompletableFuture.runAsync(unchecked(() -> content.assertIsIn(backends.all())));
        CompletableFuture<Void> checkpoint = CompletableFuture.runAsync(snapshot);
        assertThat(all.reached.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        backends.all().get(0).backend().close(); // by the thread that cancels
        assertThatThrownBy(() -> task.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .hasStackTraceContaining("cancelled with its task");
        checkpoint.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThatThrownBy(snapshot::get).isInstanceOf(Exception.class);
        CompletableFuture.runAsync(backends::dispose).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(files("local")).isEmpty();
        gate.open();
        all.open();
        awaitNoThreads();
        assertThat(files("local")).as("after late answers").isEmpty();
        coordinator.abort(3);
        backends.open(1, last);
        content.assertIsIn(backends.all());
    }

    /**
     * @param after its parallelism: that of before, or one that has content copied
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aRestoreThatIsCancelledOnceItsStoreIsOpenGivesEverythingBack(int after) throws Exception {
        List<KeyedStateHandle> last = runBefore();
        assertGivesEverythingBack(
                after,
                last,
                store -> {
                    backends.cancelRestore();
                    return store;
                },
                BackendBuildingException.class);
        backends.open(after, last);
        content.assertIsIn(backends.all());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRestoreThatEndsWithAnErrorGivesEverythingBack(boolean isLazy) throws Exception {
        backends.set(LAZY, Boolean.toString(isLazy));
        List<KeyedStateHandle> last = runBefore();
        assertGivesEverythingBack(
                1, last, LazyRestoreFailuresTest::withoutReplay, NoClassDefFoundError.class);
        backends.open(1, last);
        content.assertIsIn(backends.all());
    }

    private void assertGivesEverythingBack(
            int parallelism,
            List<KeyedStateHandle> last,
            UnaryOperator<StateStore> whenOpen,
            Class<? extends Throwable> failure)
            throws IOException {
        long allocatedBefore = Memory.allocatedBytes();
        RestoredStores stores = new RestoredStores(whenOpen);
        backends.setStores(stores);
        assertThatThrownBy(() -> backends.open(parallelism, last)).isInstanceOf(failure);
        assertThat(stores.budget().shares()).as("stores").isZero();
        assertThat(stores.budget().usedBytes()).as("of the slot").isZero();
        assertThat(Memory.allocatedBytes()).isEqualTo(allocatedBefore);
        assertThat(files("local")).isEmpty();
        backends.setStores(StateStores::open);
    }

    private static StateStore withoutReplay(StateStore store) {
        return (StateStore)
                Proxy.newProxyInstance(
                        LazyRestoreFailuresTest.class.getClassLoader(),
                        new Class<?>[] {StateStore.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("beginReplay")) {
                                throw new NoClassDefFoundError("as the test wants");
                            }
                            try {
                                return method.invoke(store, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    /** Something happens when all files of an image are open. */
    private static final class RestoredStores implements StoreFactory {
        private static final long serialVersionUID = 1;
        private final transient UnaryOperator<StateStore> whenOpen;
        private transient @Nullable MemoryBudget budget;

        RestoredStores(UnaryOperator<StateStore> whenOpen) {
            this.whenOpen = whenOpen;
        }

        @Override
        public StateStore open(StoreOptions options) {
            return StateStores.open(options);
        }

        @Override
        public StateStore open(StoreOptions options, InputStream index, ImageFiles files) {
            budget = options.budget();
            return whenOpen.apply(StateStores.open(options, index, files));
        }

        MemoryBudget budget() {
            return Objects.requireNonNull(budget, "nothing was restored");
        }
    }
}
