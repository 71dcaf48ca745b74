package io.afterbay.cli.measure;

import io.afterbay.cli.profile.StoreShares;
import org.jspecify.annotations.Nullable;

/**
 * What a job cost between two moments.
 *
 * @param taskCpuUsPerEvent see {@link ThreadTimes#taskNanos}
 * @param backgroundCpuUsPerEvent see {@link ThreadTimes#backgroundNanos}
 * @param store what of the CPU time of tasks the state backend takes; null if not measured
 * @param writtenMb null where the system does not tell
 */
public record LoopFigures(
        double eventsPerS,
        double cpuUsPerEvent,
        double taskCpuUsPerEvent,
        double backgroundCpuUsPerEvent,
        @Nullable StoreShares store,
        @Nullable Double writtenMb,
        double gcMs) {

    /** With what is known after the end of the loop. */
    LoopFigures with(@Nullable StoreShares shares) {
        return new LoopFigures(
                eventsPerS,
                cpuUsPerEvent,
                taskCpuUsPerEvent,
                backgroundCpuUsPerEvent,
                shares,
                writtenMb,
                gcMs);
    }

    /** CPU time of tasks in writes to the state backend; null if not measured. */
    public @Nullable Double storeWriteCpuUsPerEvent() {
        return store == null ? null : store.write() * taskCpuUsPerEvent;
    }

    /** CPU time of tasks in reads of the state backend; null if not measured. */
    public @Nullable Double storeReadCpuUsPerEvent() {
        return store == null ? null : store.read() * taskCpuUsPerEvent;
    }
}
