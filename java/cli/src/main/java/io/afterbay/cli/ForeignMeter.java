package io.afterbay.cli;

import io.afterbay.workloads.run.RunStatistics;
import org.jspecify.annotations.Nullable;

/** Measures throughput and latencies in one run: a foreign job runs at its own pace. */
final class ForeignMeter extends RowMeter {
    private final ClosedLoopMeter throughput = new ClosedLoopMeter(Phase.foreign());
    private final OpenLoopMeter markers = new OpenLoopMeter(Phase.foreign());

    @Override
    public void accepted(long events) {
        throughput.accepted(events);
        markers.accepted(events);
    }

    @Override
    public void result(long latencyMicros) {
        markers.result(latencyMicros);
    }

    @Nullable LoopFigures figures(RunStatistics statistics) {
        return throughput.figures(statistics);
    }

    OpenLoopMeter markers() {
        return markers;
    }

    long startNanos() {
        return markers.startNanos();
    }
}
