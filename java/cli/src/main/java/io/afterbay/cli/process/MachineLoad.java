package io.afterbay.cli.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/** How busy the machine is during a comparison, and with how much that is not ours. */
public final class MachineLoad {
    /** More than this makes figures doubtful. */
    public static final double OTHER_CORES_MAX = 0.3;

    private static final Path STAT = Path.of("/proc/stat");

    /** Of the times in /proc/stat: USER_HZ, which is 100 on all machines that Java runs on. */
    private static final long NANOS_PER_TICK = 10_000_000;

    private static final int IDLE = 3;
    private static final int IOWAIT = 4;
    private static final int STEAL = 7;

    private final Path stat;
    private final double loadBefore = ProcessFigures.loadAverage();
    private final AtomicLong workersNanos = new AtomicLong();

    public MachineLoad() {
        this(STAT);
    }

    /**
     * @param stat in the form of /proc/stat
     */
    public MachineLoad(Path stat) {
        this.stat = stat;
    }

    /**
     * A moment.
     *
     * @param busyNanos processor time of all work until then
     * @param ownNanos that of this process and of the workers that have ended
     */
    public record Mark(long nanos, OptionalLong busyNanos, long ownNanos) {}

    /** Counts the processor time of a worker as ours. */
    public void own(Duration cpu) {
        workersNanos.addAndGet(cpu.toNanos());
    }

    /** Load averages over one minute, at the start and now. */
    public String averages() {
        return String.format(
                Locale.ROOT, "%.2f before, %.2f after", loadBefore, ProcessFigures.loadAverage());
    }

    public Mark mark() {
        return new Mark(
                System.nanoTime(), busyNanos(), ProcessFigures.cpuNanos() + workersNanos.get());
    }

    /**
     * Processors that other work has used since then, on average, where the system tells (Linux).
     */
    public OptionalDouble otherCores(Mark since) {
        Mark now = mark();
        if (now.busyNanos.isEmpty() || since.busyNanos.isEmpty()) {
            return OptionalDouble.empty();
        }
        long own = now.ownNanos - since.ownNanos;
        long other = now.busyNanos.getAsLong() - since.busyNanos.getAsLong() - own;
        return OptionalDouble.of(
                Math.max(0, (double) other / Math.max(1, now.nanos - since.nanos)));
    }

    /** Time that processors did not idle; what the host took away (steal) counts. */
    private OptionalLong busyNanos() {
        try {
            String[] fields = Files.readAllLines(stat).get(0).trim().split("\\s+", -1);
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
