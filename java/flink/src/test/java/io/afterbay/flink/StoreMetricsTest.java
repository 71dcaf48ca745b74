package io.afterbay.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.flink.state.ObjectTier;
import io.afterbay.flink.state.ObjectTierSettings;
import io.afterbay.maintenance.Kind;
import io.afterbay.maintenance.MaintenanceInstance;
import io.afterbay.maintenance.MaintenanceScheduler;
import io.afterbay.maintenance.MaintenanceSettings;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreStats;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.testkit.ReferenceStore;
import io.afterbay.testing.Await;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The gauges of a store, and of the background work of a process. */
class StoreMetricsTest {
    private static final long DEADLINE_MILLIS = 400;

    @TempDir private Path directory;
    private final Map<String, Gauge<?>> gauges = new HashMap<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private final MaintenanceInstance instance =
            new MaintenanceScheduler(
                            new MaintenanceSettings(
                                    1,
                                    1,
                                    0,
                                    TimeUnit.MILLISECONDS.toNanos(DEADLINE_MILLIS),
                                    TimeUnit.MILLISECONDS.toNanos(DEADLINE_MILLIS)))
                    .register("operator");

    @BeforeEach
    void register() {
        StateStore store =
                new ReferenceStore(
                        new StoreOptions(
                                "operator",
                                directory,
                                LocalFiles.system(),
                                new MemoryBudget(1 << 20),
                                Runnable::run,
                                Runnable::run,
                                Runnable::run,
                                0,
                                1,
                                1.5,
                                false));
        new StoreMetrics(
                withFigures(store),
                new ObjectTier(ObjectTierSettings.OFF),
                instance,
                () -> 0,
                new UnregisteredMetricsGroup() {
                    @Override
                    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
                        gauges.put(name, gauge);
                        return gauge;
                    }
                });
    }

    /** As a store that has read 100 pages ahead, 25 of them in vain, and has waited for 50. */
    private static StateStore withFigures(StateStore store) {
        StoreStats figures = new StoreStats(0, 0, 0, 0, 0, 0, 0, 0, 0, 50, 100, 25, 0, 0, 0, 0, 0);
        return (StateStore)
                Proxy.newProxyInstance(
                        StoreMetricsTest.class.getClassLoader(),
                        new Class<?>[] {StateStore.class},
                        (proxy, method, arguments) ->
                                method.getName().equals("stats")
                                        ? figures
                                        : method.invoke(store, arguments));
    }

    @Test
    void tellHowMuchIsReadInVain() {
        assertThat(gauge("pagesReadAhead")).isEqualTo(100);
        assertThat(gauges.get("readAheadHitRatio").getValue()).isEqualTo(0.75);
        assertThat(gauges.get("readAmplification").getValue()).isEqualTo(150.0 / 125);
    }

    @AfterEach
    void close() {
        end.countDown();
        instance.close();
    }

    private long gauge(String name) {
        return (Long) gauges.get(name).getValue();
    }

    private void awaitGauge(String name, long value) throws Exception {
        Await.until(
                () -> "%s of %d; it is %d".formatted(name, value, gauge(name)),
                () -> gauge(name) == value);
    }

    private void waitForTheEnd() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void tellWhatRunsAndWhatWaitsForAThread() throws Exception {
        instance.execute(Kind.FLUSH, this::waitForTheEnd);
        instance.execute(Kind.FLUSH, () -> {});
        instance.execute(Kind.FLUSH, () -> {});
        awaitGauge("processTasksRunning", 1);
        assertThat(gauge("processTasksQueued")).isEqualTo(2);
        assertThat(gauge("processTasksDelayed")).isZero();
        end.countDown();
        awaitGauge("processTasksQueued", 0);
        awaitGauge("processTasksRunning", 0);
    }

    @Test
    void tellWhatACheckpointHoldsBack() throws Exception {
        Await.until(
                "a compaction that is held back",
                () -> {
                    instance.checkpointBegan(); // the one before may have held long enough
                    instance.execute(Kind.COMPACTION, () -> {});
                    return gauge("processTasksDelayed") > 0;
                });
        awaitGauge("processTasksDelayed", 0); // though no checkpoint ends
    }

    @Test
    void tellWhatHasWaitedTooLong() throws Exception {
        instance.execute(Kind.COMPACTION, this::waitForTheEnd);
        awaitGauge("processTasksRunning", 1);
        long before = gauge("processTasksOverdue"); // it may have waited for its thread
        instance.execute(Kind.COMPACTION, () -> {});
        Thread.sleep(DEADLINE_MILLIS + 100);
        assertThat(gauge("processTasksOverdue")).isEqualTo(before);
        end.countDown();
        awaitGauge("processTasksOverdue", before + 1);
    }
}
