package io.afterbay.rocksdb;

import io.afterbay.maintenance.BurstDelay;

/**
 * Tells a {@link BurstDelay} how busy the processors are while no instance flushes or compacts and
 * no burst is under way: what is left then is the work for the events that arrive. Queues that
 * compactions have left behind are still in it, which makes the delay longer, up to the length of
 * the burst.
 *
 * <p>No clock inside. Guarded by the coordinator's lock.
 */
final class CalmTimes {
    /** Shorter ones say nothing: CPU time comes in steps of 10 ms. */
    static final long SPAN_MIN_NANOS = 100_000_000;

    private final CpuSource cpu;
    private final int processors;
    private final BurstDelay delay;
    private boolean isCalm;
    private long sinceNanos;
    private long sinceCpuNanos;

    CalmTimes(CpuSource cpu, int processors, BurstDelay delay) {
        this.cpu = cpu;
        this.processors = processors;
        this.delay = delay;
    }

    /** From now on it is calm, or is not. */
    void change(boolean isCalmNow, long nowNanos) {
        if (isCalmNow == isCalm) {
            return;
        }
        isCalm = isCalmNow;
        long cpuNanos = cpu.nanos();
        if (isCalm) {
            sinceNanos = nowNanos;
            sinceCpuNanos = cpuNanos;
        } else if (sinceCpuNanos >= 0 && nowNanos - sinceNanos >= SPAN_MIN_NANOS) {
            long busyNanos = Math.max(0, cpuNanos - sinceCpuNanos) / processors;
            delay.calm(busyNanos, nowNanos - sinceNanos);
        }
    }
}
