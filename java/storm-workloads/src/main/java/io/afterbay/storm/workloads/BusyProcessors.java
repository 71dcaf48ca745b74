package io.afterbay.storm.workloads;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/** Uses up a share of the time of this machine's processors, until it is closed. */
final class BusyProcessors implements AutoCloseable {
    private static final long PERIOD_NANOS = 10_000_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean isClosed;

    /**
     * @param share from 0 to 1
     */
    BusyProcessors(double share) {
        for (int i = 0; share > 0 && i < Runtime.getRuntime().availableProcessors(); i++) {
            Thread thread = new Thread(() -> use(share), "busy-" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
    }

    private void use(double share) {
        while (!isClosed) {
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < PERIOD_NANOS * share) {
                Thread.onSpinWait();
            }
            Sleep.nanos((long) (PERIOD_NANOS * (1 - share)));
        }
    }

    /** What it has used up until now, of all processors. */
    long cpuNanos() {
        return threads.stream().mapToLong(thread -> THREADS.getThreadCpuTime(thread.getId())).sum();
    }

    @Override
    public void close() throws InterruptedException {
        isClosed = true;
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
