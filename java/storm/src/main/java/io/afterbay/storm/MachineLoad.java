package io.afterbay.storm;

import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;

/**
 * Of the machine, or of the container if the JVM sees one. The JVM gives the mean since it was last
 * asked, by anybody; so all spouts of a process ask here, and it is asked once a second.
 */
enum MachineLoad implements ProcessorLoad {
    OF_THIS_MACHINE;

    private static final long PERIOD_NANOS = 1_000_000_000L;

    // A field of an enum that is serialized by its name.
    private final com.sun.management.@Nullable OperatingSystemMXBean system =
            ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);

    private long askedNanos = System.nanoTime();
    private double share = Double.NaN;

    MachineLoad() {
        ask(); // begins the first period
    }

    @Override
    public synchronized double share() {
        long now = System.nanoTime();
        if (now - askedNanos >= PERIOD_NANOS) {
            share = ask();
            askedNanos = now;
        }
        return share;
    }

    private double ask() {
        double load = system == null ? Double.NaN : system.getCpuLoad();
        return load >= 0 ? load : Double.NaN;
    }
}
