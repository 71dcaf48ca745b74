package io.afterbay.workloads.profiles;

import io.afterbay.handover.ProcessReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of the traffic.
 *
 * @param problem why the run is no good, or null
 * @param phases in their order
 * @param seconds the timeline, of all phases
 * @param members that there are
 * @param wrong rows of the table that are wrong at the end
 * @param stale rows that put an older profile over a newer one, for however short a time
 * @param examples of wrong rows, a few
 */
public record TrafficReport(
        @Nullable String problem,
        List<Phase> phases,
        List<Second> seconds,
        int members,
        int wrong,
        long stale,
        List<String> examples,
        long cpuMs)
        implements ProcessReport {

    /**
     * Profiles that were due in a part of the time. Latency is from when one was due to when the
     * first row with it, or with a newer one of its member, was read; in milliseconds, null without
     * any.
     *
     * @param sentPerS profiles per second
     * @param arrived whose row was read
     */
    public record Phase(
            String name,
            double seconds,
            double sentPerS,
            long arrived,
            @Nullable Double p50Ms,
            @Nullable Double p90Ms,
            @Nullable Double p99Ms,
            @Nullable Double p999Ms,
            @Nullable Double maxMs) {}

    /**
     * The same of a second.
     *
     * @param second since the first profile of the live job
     */
    public record Second(
            int second, String phase, long arrived, double p50Ms, double p99Ms, double maxMs) {}
}
