package io.afterbay.cli.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSet;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.junit.jupiter.api.Test;

/** The samplers together, on threads of this test in the place of tasks. */
class StoreProfileTest {
    private static final long WORK_NANOS = 400_000_000;
    private static final int TIMERS = 20_000;

    /** Does it again and again until the thread has used some CPU time. */
    private static Thread worker(Runnable work, CountDownLatch ready, CountDownLatch done) {
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
        Thread[] threads =
                Arrays.stream(works).map(work -> worker(work, ready, done)).toArray(Thread[]::new);
        long[] ids = Arrays.stream(threads).mapToLong(Thread::getId).toArray();
        try (StoreProfile profile = StoreProfile.start(() -> ids)) {
            profile.begin();
            ready.countDown();
            await(done);
            for (Thread thread : threads) {
                thread.join();
            }
            return profile.end();
        }
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
