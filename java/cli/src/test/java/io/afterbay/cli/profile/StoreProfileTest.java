package io.afterbay.cli.profile;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSet;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.junit.jupiter.api.Test;

/** The samplers together, on threads of this test in the place of tasks. */
class StoreProfileTest {
    private static final long WORK_NANOS = 400_000_000;
    private static final int TIMERS = 20_000;

    /**
     * Does it again and again until the thread has used some CPU time. It is there until it is over
     * for all: of a thread that has ended, the clock cannot tell what it has used since its last
     * look.
     */
    private static Thread worker(
            Runnable work, CountDownLatch ready, CountDownLatch done, CountDownLatch over) {
        var cpu = java.lang.management.ManagementFactory.getThreadMXBean();
        BooleanSupplier isDone = () -> cpu.getCurrentThreadCpuTime() > WORK_NANOS;
        Thread thread =
                new Thread(
                        () -> {
                            await(ready);
                            while (!isDone.getAsBoolean()) {
                                work.run();
                            }
                            done.countDown();
                            await(over);
                        });
        thread.start();
        return thread;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static StoreShares during(Runnable... works) throws Exception {
        CountDownLatch ready = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(works.length);
        CountDownLatch over = new CountDownLatch(1);
        Thread[] threads =
                Arrays.stream(works)
                        .map(work -> worker(work, ready, done, over))
                        .toArray(Thread[]::new);
        long[] ids = Arrays.stream(threads).mapToLong(Thread::getId).toArray();
        AtomicLong searches = new AtomicLong();
        Supplier<long[]> tasks =
                () -> {
                    searches.incrementAndGet();
                    return ids;
                };
        try (StoreProfile profile = StoreProfile.start(tasks)) {
            profile.begin();
            awaitLook(searches, 0);
            ready.countDown();
            await(done);
            awaitLook(searches, searches.get());
            return profile.end();
        } finally {
            over.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    /**
     * However busy the machine is: before each tenth look, the clock asks which threads are there.
     */
    private static void awaitLook(AtomicLong searches, long before) throws Exception {
        Await.until("the clock looks", () -> searches.get() > before);
    }

    private static void useTimers() {
        HeapPriorityQueueSet<TimerHeapInternalTimer<Integer, String>> queue =
                new HeapPriorityQueueSet<>(
                        (a, b) -> Long.compare(a.getTimestamp(), b.getTimestamp()),
                        TimerHeapInternalTimer::getKey,
                        128,
                        new KeyGroupRange(0, 127),
                        128);
        for (int i = 0; i < TIMERS; i++) {
            queue.add(new TimerHeapInternalTimer<>(i * 7919L % TIMERS, i, "window"));
        }
    }

    private static void compute() {
        double sum = 0;
        for (int i = 1; i < 100_000; i++) {
            sum += Math.sqrt(sum + i);
        }
        assertThat(sum).isPositive();
    }

    @Test
    void whatIsDoneInTimersIsFoundAndNothingElse() throws Exception {
        StoreShares timers = during(StoreProfileTest::useTimers);
        assertThat(timers.write()).isBetween(0.5, 1.0);
        assertThat(timers.read()).isLessThan(0.1);
        StoreShares both = during(StoreProfileTest::useTimers, StoreProfileTest::compute);
        assertThat(both.write()).isBetween(timers.write() * 0.25, timers.write() * 0.75);
        StoreShares none = during(StoreProfileTest::compute);
        assertThat(none).isEqualTo(new StoreShares(0, 0));
    }
}
