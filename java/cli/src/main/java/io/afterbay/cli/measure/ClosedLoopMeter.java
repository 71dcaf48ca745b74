package io.afterbay.cli.measure;

import io.afterbay.cli.profile.StoreProfile;
import io.afterbay.workloads.run.RunStatistics;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** What a job costs as fast as possible, from the end of its ramp-up to its last result. */
public final class ClosedLoopMeter extends RowMeter {
    private final long rampUpEvents;
    private final @Nullable StoreProfile profile;
    private volatile @Nullable LoopMoment start;

    /**
     * @param profile that nobody else uses; null: what the state backend takes is not measured
     */
    public ClosedLoopMeter(Phase phase, @Nullable StoreProfile profile) {
        this.rampUpEvents = phase.rampUpEvents();
        this.profile = profile;
    }

    @Override
    public void accepted(long events) {
        if (start == null && events >= rampUpEvents) {
            start = LoopMoment.now(events);
            if (profile != null) {
                profile.begin();
            }
        }
    }

    /** Short jobs end between two samples, and their threads with them. */
    @Override
    public void ended() {
        var unused = ThreadTimes.now();
    }

    /** Once, after the end of the job; null if it did not get beyond its ramp-up. */
    public @Nullable LoopFigures figures(RunStatistics statistics) throws IOException {
        LoopMoment from = start;
        LoopFigures figures = from == null ? null : from.until(LoopMoment.end(statistics));
        return figures == null || profile == null ? figures : figures.with(profile.end());
    }
}
