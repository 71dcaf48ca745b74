package io.afterbay.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** With real threads; moments are those of a clock that stands still unless it is set. */
class MaintenanceSchedulerTest {
    private final AtomicLong clock = new AtomicLong();

    private MaintenanceScheduler scheduler(MaintenanceSettings settings) {
        return new MaintenanceScheduler(settings, clock::get);
    }

    private static MaintenanceSettings pausing(int threads) {
        return new MaintenanceSettings(threads, Math.max(1, threads - 1), 0, 500, 1000);
    }

    private void setClock(MaintenanceScheduler scheduler, long nanos) {
        clock.set(nanos);
        scheduler.clockChanged();
    }

    private static void awaitEnded(MaintenanceScheduler scheduler, long tasks) throws Exception {
        Await.until(
                () -> "%d tasks; %d have ended".formatted(tasks, scheduler.metrics().executed()),
                () -> scheduler.metrics().executed() >= tasks);
    }

    @Test
    void aTaskThatThrowsEndsNoThread() throws Exception {
        MaintenanceScheduler scheduler = scheduler(pausing(1));
        List<Throwable> reported = new ArrayList<>();
        AtomicReference<Thread> first = new AtomicReference<>();
        AtomicReference<Thread> second = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(1);
        try (MaintenanceInstance instance = scheduler.register("a")) {
            instance.execute(
                    Kind.FLUSH,
                    () -> {
                        first.set(Thread.currentThread());
                        Thread.currentThread()
                                .setUncaughtExceptionHandler((thread, e) -> reported.add(e));
                        Thread.currentThread().interrupt();
                        throw new AssertionError("expected");
                    });
            instance.execute(
                    Kind.FLUSH,
                    () -> {
                        assertThat(Thread.currentThread().isInterrupted()).isFalse();
                        second.set(Thread.currentThread());
                        done.countDown();
                    });
            done.await();
            awaitEnded(scheduler, 2);
        }
        assertThat(second.get()).isSameAs(first.get());
        assertThat(reported).hasSize(1);
        assertThat(scheduler.metrics().failed()).isEqualTo(1);
    }

    @Test
    void aPauseHoldsUntilTheClockPassesIt() throws Exception {
        MaintenanceScheduler scheduler = scheduler(pausing(2));
        CountDownLatch compacted = new CountDownLatch(1);
        CountDownLatch flushed = new CountDownLatch(1);
        try (MaintenanceInstance instance = scheduler.register("a");
                MaintenanceInstance other = scheduler.register("b")) {
            instance.checkpointBegan();
            other.execute(Kind.COMPACTION, compacted::countDown);
            other.execute(Kind.FLUSH, flushed::countDown);
            flushed.await();
            setClock(scheduler, 100);
            instance.checkpointEnded();
            instance.checkpointEnded(); // one too many
            setClock(scheduler, 199);
            assertThat(scheduler.metrics().delayed()).isEqualTo(1);
            assertThat(compacted.getCount()).isEqualTo(1);
            setClock(scheduler, 200);
            compacted.await();
        }
        assertThat(scheduler.metrics().stalls()).isZero();
    }

    @Test
    void closingRunsWhatIsHeldBack() throws Exception {
        MaintenanceScheduler scheduler = scheduler(pausing(2));
        CountDownLatch ran = new CountDownLatch(3);
        MaintenanceInstance other = scheduler.register("b");
        MaintenanceInstance instance = scheduler.register("a");
        other.checkpointBegan();
        for (int i = 0; i < 3; i++) {
            instance.execute(Kind.COMPACTION, ran::countDown);
        }
        other.execute(Kind.COMPACTION, () -> {});
        instance.close();
        instance.close();
        ran.await();
        awaitEnded(scheduler, 3);
        assertThat(scheduler.metrics().delayed()).isEqualTo(1); // the other's
        assertThatThrownBy(() -> instance.executor(Kind.FLUSH).execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("a is closed");
        other.close();
        awaitEnded(scheduler, 4);
    }

    @Test
    void closingEndsTheCheckpointsOfAnInstance() throws Exception {
        MaintenanceScheduler scheduler = scheduler(pausing(2));
        CountDownLatch ran = new CountDownLatch(1);
        try (MaintenanceInstance other = scheduler.register("b")) {
            MaintenanceInstance instance = scheduler.register("a");
            instance.checkpointBegan();
            instance.checkpointBegan();
            other.execute(Kind.COMPACTION, ran::countDown);
            instance.close();
            instance.checkpointBegan(); // too late to hold anything
            ran.await(); // a burst of no length has no delay
        }
    }

    @Test
    void threadsEndWithTheLastInstanceAndStartAgain() throws Exception {
        MaintenanceScheduler scheduler = scheduler(pausing(1));
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            MaintenanceInstance instance = scheduler.register("a");
            instance.execute(
                    Kind.COMPACTION,
                    () -> {
                        threads.add(Thread.currentThread());
                        ran.countDown();
                    });
            instance.close();
            ran.await();
            threads.get(i).join();
            assertThat(threads.get(i).isDaemon()).isTrue();
        }
        assertThat(threads.get(1)).isNotSameAs(threads.get(0));
    }

    @Test
    void aTaskMayCloseItsInstanceAndSubmitToAnother() throws Exception {
        MaintenanceScheduler scheduler = scheduler(pausing(1));
        CountDownLatch ran = new CountDownLatch(1);
        MaintenanceInstance instance = scheduler.register("a");
        MaintenanceInstance other = scheduler.register("b");
        instance.execute(
                Kind.COMPACTION,
                () -> {
                    instance.close();
                    other.execute(Kind.COMPACTION, ran::countDown);
                });
        ran.await();
        other.close();
    }

    @Test
    void raisingTheLimitLetsMoreBegin() throws Exception {
        MaintenanceScheduler scheduler =
                scheduler(new MaintenanceSettings(3, 1, 0, 0, Long.MAX_VALUE / 4));
        CountDownLatch bothRun = new CountDownLatch(2);
        try (MaintenanceInstance instance = scheduler.register("a")) {
            for (int i = 0; i < 2; i++) {
                instance.execute(
                        Kind.COMPACTION,
                        () -> {
                            bothRun.countDown();
                            awaitUnchecked(bothRun);
                        });
            }
            scheduler.setDeferrableLimit(99);
            bothRun.await();
        }
    }

    private static void awaitUnchecked(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void everyTaskRunsOnceUnderStress() throws Exception {
        int instances = 16;
        int tasks = 500;
        MaintenanceScheduler scheduler =
                new MaintenanceScheduler(
                        new MaintenanceSettings(4, 2, 200_000, 100_000, 1_000_000));
        AtomicInteger ran = new AtomicInteger();
        AtomicInteger accepted = new AtomicInteger();
        AtomicInteger running = new AtomicInteger();
        AtomicInteger mostRunning = new AtomicInteger();
        List<Thread> submitters = new ArrayList<>();
        for (int i = 0; i < instances; i++) {
            MaintenanceInstance instance = scheduler.register("instance-" + i);
            Thread submitter =
                    new Thread(
                            () -> {
                                for (int k = 0; k < tasks; k++) {
                                    submit(instance, k, ran, running, mostRunning);
                                    accepted.incrementAndGet();
                                }
                                instance.close();
                            });
            submitters.add(submitter);
            submitter.start();
        }
        for (Thread submitter : submitters) {
            submitter.join();
        }
        awaitEnded(scheduler, instances * tasks);
        assertThat(ran).hasValue(instances * tasks);
        assertThat(accepted).hasValue(instances * tasks);
        assertThat(mostRunning.get()).isBetween(1, 4);
        MaintenanceMetrics metrics = scheduler.metrics();
        assertThat(metrics.queued().values()).containsOnly(0);
        assertThat(metrics.running().values()).containsOnly(0);
        assertThat(metrics.failed()).isEqualTo(instances * tasks / 50);
    }

    /** Kinds by turns, checkpoints in between, and each fiftieth task throws. */
    private static void submit(
            MaintenanceInstance instance,
            int k,
            AtomicInteger ran,
            AtomicInteger running,
            AtomicInteger mostRunning) {
        if (k % 20 == 0) {
            instance.checkpointBegan();
        }
        instance.execute(
                k % 4 == 0 ? Kind.FLUSH : Kind.COMPACTION,
                () -> {
                    mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
                    ran.incrementAndGet();
                    running.decrementAndGet();
                    if (k % 50 == 0) {
                        Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> {});
                        throw new IllegalStateException("expected");
                    }
                });
        if (k % 20 == 10) {
            instance.checkpointEnded();
        }
    }
}
