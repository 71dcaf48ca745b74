package io.afterbay.cli.process;

import com.sun.management.OperatingSystemMXBean;
import io.afterbay.command.ByteSize;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/** What the operating system and the JVM say about this process. */
public final class ProcessFigures {
    private static final long BYTES_PER_KIB = 1024;

    /** Of times in /proc: USER_HZ, which is 100 on all machines that Java runs on. */
    private static final long NANOS_PER_TICK = 10_000_000;

    private ProcessFigures() {}

    public static ByteSize machineMemory() {
        return new ByteSize(system().getTotalMemorySize());
    }

    public static long cpuNanos() {
        return system().getProcessCpuTime();
    }

    /** Processor time of all processes that this one has started and that have ended (Linux). */
    public static long cpuNanosOfChildren() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        // The name of the program, in parentheses, may have spaces in it.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[13]) + Long.parseLong(fields[14])) * NANOS_PER_TICK;
    }

    public static double loadAverage() {
        return system().getSystemLoadAverage();
    }

    public static long collectorMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum();
    }

    /** Largest resident size so far, where the system tells (Linux). */
    public static OptionalLong peakResidentBytes() {
        return status("VmHWM:");
    }

    /** Resident size now, where the system tells (Linux). */
    public static OptionalLong residentBytes() {
        return status("VmRSS:");
    }

    private static OptionalLong status(String name) {
        OptionalLong kib = field(Path.of("/proc/self/status"), name);
        return kib.isPresent() ? OptionalLong.of(kib.getAsLong() * BYTES_PER_KIB) : kib;
    }

    /** Bytes that this process caused to be written to disks, where the system tells (Linux). */
    public static OptionalLong writtenBytes() {
        return field(Path.of("/proc/self/io"), "write_bytes:");
    }

    /** Bytes that a process has read from files and connections, where the system tells (Linux). */
    public static OptionalLong readBytes(ProcessHandle process) {
        return field(Path.of("/proc/" + process.pid() + "/io"), "rchar:");
    }

    private static OptionalLong field(Path file, String name) {
        try {
            return Files.readAllLines(file).stream()
                    .filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()).replace("kB", "").strip())
                    .mapToLong(Long::parseLong)
                    .findFirst();
        } catch (IOException | NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    private static OperatingSystemMXBean system() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    }
}
