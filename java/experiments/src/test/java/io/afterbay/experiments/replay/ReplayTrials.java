package io.afterbay.experiments.replay;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import io.afterbay.workloads.profiles.TrafficReport;
import java.util.List;
import java.util.Map;

/** Runs as they are recorded. */
final class ReplayTrials {
    private ReplayTrials() {}

    static TrafficReport.Phase phase(String name, double sentPerS, double p99Ms) {
        return new TrafficReport.Phase(
                name, 10, sentPerS, 3000, 5.0, 8.0, p99Ms, 2 * p99Ms, 3 * p99Ms);
    }

    /** At 1,000 profiles a second, of which as many were sent. */
    static ReplayTrial trial(
            String variant,
            Double asked,
            Double replayed,
            Long conflicts,
            int wrong,
            double p99During) {
        return new ReplayTrial(
                variant,
                50,
                asked,
                1,
                null,
                null,
                1000.0,
                6000L,
                replayed,
                conflicts,
                conflicts == null ? null : 3L,
                3000,
                wrong,
                7L,
                phase("before", 1000, 20),
                phase("during", 1000, p99During),
                phase("after", 1000, 21),
                List.of(new TrafficReport.Second(0, "before", 100, 5, 20, 30)));
    }

    static ReplayTrial sendingDuring(ReplayTrial run, double perS) {
        return new ReplayTrial(
                run.variant(),
                run.livePercent(),
                run.replayRatePerS(),
                run.pair(),
                null,
                null,
                run.liveRatePerS(),
                run.past(),
                run.replayedPerS(),
                run.conflicts(),
                run.corrections(),
                run.members(),
                run.wrong(),
                run.stale(),
                run.before(),
                phase("during", perS, 20),
                run.after(),
                run.seconds());
    }

    static ReplayTrial maximum(double perS) {
        return new ReplayTrial(
                "maximum", 0, null, 1, null, perS, null, null, null, null, null, null, null, null,
                null, null, null, null);
    }

    static RecordedTrial<ReplayTrial> recorded(ReplayTrial run) {
        return recorded(run, "abc");
    }

    static RecordedTrial<ReplayTrial> recorded(ReplayTrial run, String revision) {
        return new RecordedTrial<>(
                new Provenance(
                        "replay",
                        revision,
                        Map.of("flink", "2.3.0"),
                        "./afterbay bench replay",
                        "2026-11-28T10:00:00Z",
                        0.1,
                        2.0,
                        0.05),
                run);
    }
}
