package io.afterbay.bench;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What is measured in a run: its name in JSON, its label, and which direction is better. */
public enum Figure {
    EVENTS_PER_S("events/s", true, Run::eventsPerS),
    CPU_US_PER_EVENT("CPU us/event", false, Run::cpuUsPerEvent),
    TASK_CPU_US_PER_EVENT("CPU us/event, tasks", false, Run::taskCpuUsPerEvent),
    BACKGROUND_CPU_US_PER_EVENT("CPU us/event, background", false, Run::backgroundCpuUsPerEvent),
    STORE_WRITE_CPU_US_PER_EVENT(
            "CPU us/event, writes of state", false, Run::storeWriteCpuUsPerEvent),
    STORE_READ_CPU_US_PER_EVENT("CPU us/event, reads of state", false, Run::storeReadCpuUsPerEvent),
    P50_MS("latency P50, ms", false, Run::p50Ms),
    P90_MS("latency P90, ms", false, Run::p90Ms),
    P95_MS("latency P95, ms", false, Run::p95Ms),
    P99_MS("latency P99, ms", false, Run::p99Ms),
    P999_MS("latency P99.9, ms", false, Run::p999Ms),
    MAX_MS("latency max, ms", false, Run::maxMs),
    LONGEST_PAUSE_MS("longest stall, ms", false, Run::longestPauseMs),
    PEAK_RSS_MB("peak RSS, MB", false, Run::peakRssMb),
    DISK_MB("disk, MB", false, Run::diskMb),
    WRITTEN_MB("written, MB", false, Run::writtenMb),
    GC_MS("GC, ms", false, Run::gcMs);

    private final String label;
    private final boolean moreIsBetter;
    private final Getter getter;

    Figure(String label, boolean moreIsBetter, Getter getter) {
        this.label = label;
        this.moreIsBetter = moreIsBetter;
        this.getter = getter;
    }

    private interface Getter {
        @Nullable Double of(Run run);
    }

    /** Its name in JSON, such as {@code p999_ms}. */
    public String jsonName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** A short name with its unit, for people. */
    public String label() {
        return label;
    }

    public boolean moreIsBetter() {
        return moreIsBetter;
    }

    /** Its value in a run, or null if it was not measured. */
    public @Nullable Double of(Run run) {
        return getter.of(run);
    }

    /** The median over the finished runs that have it, or null if none has. */
    public @Nullable Double median(List<Run> runs) {
        double[] values =
                runs.stream()
                        .filter(Run::finished)
                        .map(this::of)
                        .filter(Objects::nonNull)
                        .mapToDouble(Double::doubleValue)
                        .toArray();
        return values.length == 0 ? null : Ratio.median(values);
    }
}
