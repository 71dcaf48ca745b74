package io.afterbay.cli.measure;

import io.afterbay.cli.job.Job;
import io.afterbay.cli.job.TrafficJamRun;
import io.afterbay.workloads.run.WorkloadException;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;

/**
 * The traffic-jam job on a trace.
 *
 * @param events lines of all passes
 */
public record TrafficJamTarget(TrafficJamOptions options, long events) implements Target {
    /** In the first part of a trace, most cars show up and some windows end. */
    private static final int RAMP_UP_PARTS = 20;

    /** Reads the trace once, to know its length. */
    public static TrafficJamTarget of(TrafficJamOptions options) throws WorkloadException {
        return new TrafficJamTarget(options, options.trace().lines() * options.repeat());
    }

    @Override
    public String name() {
        return "traffic-jam";
    }

    @Override
    public long rampUpEvents() {
        return events / options.repeat() / RAMP_UP_PARTS;
    }

    @Override
    public Target limitedTo(long limit) {
        return new TrafficJamTarget(options, Math.min(limit, events));
    }

    @Override
    public Job job(Phase phase) {
        return new TrafficJamRun(options.as(phase.name(), phase.events(), phase.ratePerS()));
    }
}
