package io.afterbay.spark.workloads;

import com.sun.management.OperatingSystemMXBean;
import io.afterbay.workloads.microbatch.MicroBatchReport;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What this process has used until a moment.
 *
 * @param cpuNanos of all its threads
 * @param gcMillis in collections
 */
record ProcessCost(long nanos, long cpuNanos, long gcMillis) {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final double KIB_PER_MIB = 1024;
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String LARGEST = "VmHWM:";

    static ProcessCost now() {
        long gc =
                ManagementFactory.getGarbageCollectorMXBeans().stream()
                        .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                        .sum();
        return new ProcessCost(System.nanoTime(), processorNanos(), gc);
    }

    private static long processorNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    static long cpuMillis() {
        return processorNanos() / NANOS_PER_MILLI;
    }

    /** From then until now, in which so many records came. */
    MicroBatchReport.Cost since(ProcessCost before, long records) {
        double cpu = cpuNanos - before.cpuNanos;
        double available = (double) (nanos - before.nanos) * LocalSpark.processors();
        return new MicroBatchReport.Cost(
                cpu / NANOS_PER_MICRO / Math.max(1, records),
                cpu / available,
                rssMib(),
                gcMillis - before.gcMillis);
    }

    /** The largest resident set so far; 0 where the system does not tell (Linux does). */
    private static double rssMib() {
        try {
            return Files.readAllLines(STATUS).stream()
                    .filter(line -> line.startsWith(LARGEST))
                    .mapToDouble(line -> Long.parseLong(line.replaceAll("\\D", "")) / KIB_PER_MIB)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }
}
