package io.afterbay.cli.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ThreadTimesTest {
    private static final long WORK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** Uses processor time in a thread of that name, and has it counted before it ends. */
    private static ThreadTimes during(ThreadGroup group, String name) throws Exception {
        CountDownLatch worked = new CountDownLatch(1);
        CountDownLatch seen = new CountDownLatch(1);
        Thread thread =
                new Thread(
                        group,
                        () -> {
                            work();
                            worked.countDown();
                            await(seen);
                        },
                        name);
        ThreadTimes before = ThreadTimes.now();
        thread.start();
        await(worked);
        ThreadTimes.now();
        seen.countDown();
        thread.join();
        ThreadTimes after = ThreadTimes.now();
        return new ThreadTimes(
                after.taskNanos() - before.taskNanos(),
                after.backgroundNanos() - before.backgroundNanos());
    }

    private static void work() {
        var cpu = java.lang.management.ManagementFactory.getThreadMXBean();
        long end = cpu.getCurrentThreadCpuTime() + WORK_NANOS;
        while (cpu.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void threadsThatHaveEndedStillCountForWhatTheyWere() throws Exception {
        ThreadGroup tasks = new ThreadGroup("Flink Task Threads");
        ThreadTimes task = during(tasks, "q7 (1/2)#0");
        assertThat(task.taskNanos()).isGreaterThanOrEqualTo(WORK_NANOS);
        assertThat(task.backgroundNanos()).isZero();
        ThreadTimes background = during(tasks, "afterbay-maintenance-1");
        assertThat(background.taskNanos()).isZero();
        assertThat(background.backgroundNanos()).isGreaterThanOrEqualTo(WORK_NANOS);
        ThreadTimes other = during(Thread.currentThread().getThreadGroup(), "flink-pekko-1");
        assertThat(other).isEqualTo(new ThreadTimes(0, 0));
    }

    @Test
    void readsWhatTheKernelSaysAboutAThread() {
        assertThat(
                        ThreadTimes.nanos(
                                "42 (rocksdb:low (1)) S 1 2 3 0 -1 4194368 5 0 0 0 120 30 0 0 20"))
                .isEqualTo(1_500_000_000);
    }
}
