package io.afterbay.cli.compare;

import io.afterbay.bench.Run;
import io.afterbay.bench.Timeline;
import io.afterbay.cli.engine.Backend;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a worker of a comparison has found out so far; handed over as a file in its working
 * directory, after each phase.
 *
 * @param timeline of the open loop, or null before its end
 * @param rows what came out of each finished phase that was counted, for comparison with others
 */
record Findings(Run run, @Nullable Timeline timeline, Map<String, String> rows) {
    /** Of a worker that died before it wrote any. */
    static Findings none(Backend backend, int pair) {
        return new Findings(Run.none(backend.label(), pair), null, Map.of());
    }

    /** The same figures of a run that failed; the first reason is the cause. */
    Findings failed(String reason) {
        return run.finished() ? new Findings(run.failed(reason), timeline, rows) : this;
    }
}
