package io.afterbay.storm.workloads;

import io.afterbay.handover.stragglers.StragglerTopology.Limit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;

/**
 * Workers of a trial with a cgroup each. All are threads of one process, and what is limited is the
 * processor time of the threads that run their spouts and bolts, Storm's looking for tuples
 * included. Storm's other threads, such as those of ackers, have no limit.
 *
 * <p>Tasks are at work here, and do not sleep.
 *
 * <p>Safe for use by any thread.
 */
final class LimitedWorkers implements AutoCloseable {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final List<CpuGroup> groups = new ArrayList<>();
    private final List<Compressor> compressors = new ArrayList<>();
    private final ThreadLocal<Boolean> isIn = ThreadLocal.withInitial(() -> false);

    private LimitedWorkers() {}

    /**
     * @throws IOException if this process may not limit its threads; the message is for the user
     */
    static LimitedWorkers open(List<Limit> limits) throws IOException {
        LimitedWorkers workers = new LimitedWorkers();
        try {
            for (Limit limit : limits) {
                workers.add(limit);
            }
            return workers;
        } catch (IOException e) {
            workers.close();
            throw new IOException(
                    "the processor time of workers cannot be limited (%s: %s); be root on Linux with cgroups, or leave out the cells whose names end with -cgroup"
                            .formatted(e.getClass().getSimpleName(), e.getMessage()),
                    e);
        }
    }

    private void add(Limit limit) throws IOException {
        CpuGroup group = CpuGroup.open(groups.size(), limit.percent());
        groups.add(group);
        if (limit.hasCompressor()) {
            compressors.add(new Compressor(group));
        }
    }

    boolean isEmpty() {
        return groups.isEmpty();
    }

    /**
     * The calling thread is one of that worker's.
     *
     * @param port of the worker; workers have ports that follow each other
     */
    void enter(int port) {
        if (!isEmpty() && !isIn.get()) {
            try {
                groups.get(port % groups.size()).enter();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            isIn.set(true);
        }
    }

    /** Keeps a processor busy for so long, or until the thread is interrupted. */
    static void work(long nanos) {
        long end = THREADS.getCurrentThreadCpuTime() + nanos;
        while (THREADS.getCurrentThreadCpuTime() < end && !Thread.currentThread().isInterrupted()) {
            Thread.onSpinWait();
        }
    }

    /** How many threads each of them has, its compressor included. */
    List<Integer> threads() {
        return groups.stream().map(LimitedWorkers::threads).toList();
    }

    private static int threads(CpuGroup group) {
        try {
            return group.threads();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Processor time of the compressors until now. */
    long compressorNanos() {
        return compressors.stream().mapToLong(Compressor::cpuNanos).sum();
    }

    @Override
    public void close() {
        compressors.forEach(Compressor::close);
        groups.forEach(CpuGroup::close);
    }
}
