package io.afterbay.cli.measure;

import io.afterbay.cli.job.Job;
import io.afterbay.cli.job.NexmarkRun;
import io.afterbay.workloads.nexmark.NexmarkOptions;

/** A NEXMark query. */
public record NexmarkTarget(NexmarkOptions options) implements Target {
    /** Windows that have ended when the counting begins: from then on as much leaves as comes. */
    private static final int WINDOWS = 2;

    /** Many bidders have been away for longer than the gap by then. */
    private static final int SESSION_GAPS = 4;

    @Override
    public String name() {
        return "nexmark-" + options.query();
    }

    @Override
    public long events() {
        return options.events();
    }

    @Override
    public long rampUpEvents() {
        long millis =
                Math.max(
                        WINDOWS * options.windows().lengthMillis(),
                        SESSION_GAPS * options.windows().sessionGapMillis());
        return options.generator().firstAtOrAfter(millis);
    }

    @Override
    public Target limitedTo(long events) {
        return new NexmarkTarget(options.as(options.run(), Math.min(events, events()), 0));
    }

    @Override
    public Job job(Phase phase) {
        long events = Math.min(phase.events(), options.generator().eventsMax());
        return new NexmarkRun(options.as(phase.name(), events, phase.ratePerS()), false);
    }
}
