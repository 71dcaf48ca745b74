package io.afterbay.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How busy the machine is from the start of a comparison on, and with how much that is not ours.
 */
final class MachineLoad {
    /** More than this makes figures doubtful. */
    static final double OTHER_CORES_MAX = 0.3;

    private static final Path STAT = Path.of("/proc/stat");

    /** Of the times in /proc/stat: USER_HZ, which is 100 on all machines that Java runs on. */
    private static final long NANOS_PER_TICK = 10_000_000;

    private static final int IDLE = 3;
    private static final int IOWAIT = 4;
    private static final int STEAL = 7;

    private final double loadBefore = ProcessFigures.loadAverage();
    private final long startNanos = System.nanoTime();
    private final OptionalLong startBusyNanos = busyNanos();
    private final long startOwnNanos = ProcessFigures.cpuNanos();
    private final AtomicLong workersNanos = new AtomicLong();

    /** Counts the processor time of a worker as ours. */
    void own(Duration cpu) {
        workersNanos.addAndGet(cpu.toNanos());
    }

    /** Load averages over one minute, at the start and now. */
    String averages() {
        return String.format(
                Locale.ROOT, "%.2f before, %.2f after", loadBefore, ProcessFigures.loadAverage());
    }

    /** Processors that other work has used, on average, where the system tells (Linux). */
    OptionalDouble otherCores() {
        OptionalLong busy = busyNanos();
        if (busy.isEmpty() || startBusyNanos.isEmpty()) {
            return OptionalDouble.empty();
        }
        long own = ProcessFigures.cpuNanos() - startOwnNanos + workersNanos.get();
        long other = busy.getAsLong() - startBusyNanos.getAsLong() - own;
        return OptionalDouble.of(
                Math.max(0, (double) other / Math.max(1, System.nanoTime() - startNanos)));
    }

    /** Time that processors did not idle; what the host took away (steal) counts. */
    private static OptionalLong busyNanos() {
        try {
            String[] fields = Files.readAllLines(STAT).get(0).trim().split("\\s+", -1);
            long ticks = 0;
            for (int i = 0; i <= STEAL; i++) {
                ticks += i == IDLE || i == IOWAIT ? 0 : Long.parseLong(fields[i + 1]);
            }
            return OptionalLong.of(ticks * NANOS_PER_TICK);
        } catch (IOException | RuntimeException e) {
            return OptionalLong.empty();
        }
    }
}
