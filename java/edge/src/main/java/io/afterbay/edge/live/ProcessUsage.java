package io.afterbay.edge.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Memory and processor time of a program's processes, as they were when one last looked.
 *
 * <p>For one thread that looks; the rest for any.
 */
final class ProcessUsage {
    private static final String PEAK = "VmHWM:";

    private volatile long peakBytes;
    private volatile Duration before = Duration.ZERO;
    private volatile Duration now = Duration.ZERO;

    void look(Process process) {
        now = process.info().totalCpuDuration().filter(time -> time.compareTo(now) > 0).orElse(now);
        try {
            peakBytes = Math.max(peakBytes, peakBytes(process.pid()));
        } catch (IOException e) {
            // It has ended, or this system tells it in another way.
        }
    }

    /**
     * The largest resident memory of a process so far.
     *
     * @throws IOException if it has ended, or this system tells it in another way
     */
    static long peakBytes(long pid) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
            if (line.startsWith(PEAK)) {
                String kib = line.substring(PEAK.length()).replace("kB", "").strip();
                return Long.parseLong(kib) << 10;
            }
        }
        return 0;
    }

    /** The next process begins. */
    void ended() {
        before = before.plus(now);
        now = Duration.ZERO;
    }

    /** The largest resident memory of a process, in bytes; 0 if the system does not tell. */
    long peakBytes() {
        return peakBytes;
    }

    /** Of all processes. */
    Duration cpu() {
        return before.plus(now);
    }
}
