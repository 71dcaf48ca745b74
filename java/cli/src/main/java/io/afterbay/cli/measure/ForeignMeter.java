package io.afterbay.cli.measure;

import io.afterbay.cli.profile.StoreProfile;
import io.afterbay.workloads.run.RunStatistics;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Measures throughput and latencies in one run: a foreign job runs at its own pace. */
public final class ForeignMeter extends RowMeter {
    private final ClosedLoopMeter throughput;
    private final OpenLoopMeter markers = new OpenLoopMeter(Phase.foreign());

    /**
     * @param profile see {@link ClosedLoopMeter}
     */
    public ForeignMeter(@Nullable StoreProfile profile) {
        throughput = new ClosedLoopMeter(Phase.foreign(), profile);
    }

    @Override
    public void accepted(long events) {
        throughput.accepted(events);
        markers.accepted(events);
    }

    @Override
    public void result(long latencyMicros) {
        markers.result(latencyMicros);
    }

    public @Nullable LoopFigures figures(RunStatistics statistics) throws IOException {
        return throughput.figures(statistics);
    }

    public OpenLoopMeter markers() {
        return markers;
    }

    public long startNanos() {
        return markers.startNanos();
    }
}
