package io.afterbay.handover;

import org.jspecify.annotations.Nullable;

/** What a process that runs a workload with libraries of its own tells at its end. */
public interface ProcessReport {
    /** Why the run is no good, or null. */
    @Nullable String problem();

    /** Processor time of the process, and of those that it has started. */
    long cpuMs();
}
