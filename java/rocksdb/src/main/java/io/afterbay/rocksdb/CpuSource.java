package io.afterbay.rocksdb;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * Where the CPU time comes from that tells how near the process is to full speed. Called with a
 * lock held: must not block.
 */
@FunctionalInterface
interface CpuSource {
    /** CPU time of the process so far, of all threads, in nanoseconds; negative if not known. */
    long nanos();

    /** Of this process; not known where the JVM has no such bean. */
    static CpuSource ofProcess() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system::getProcessCpuTime
                : () -> -1;
    }
}
