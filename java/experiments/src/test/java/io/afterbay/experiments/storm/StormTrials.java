package io.afterbay.experiments.storm;

import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import java.util.List;
import java.util.Map;

/** Runs for tests. */
final class StormTrials {
    private static final Provenance PROVENANCE =
            new Provenance(
                    "storm",
                    "new",
                    Map.of("java", "17"),
                    "./afterbay bench storm",
                    "2026-11-28T10:00:00Z",
                    0.1,
                    2.0,
                    0.05);

    private StormTrials() {}

    static RecordedTrial<StormTrial> recorded(StormTrial trial) {
        return new RecordedTrial<>(PROVENANCE, trial);
    }

    static StormTrial.Setting setting(String variant, String cell, int percent, int pair) {
        return setting(variant, cell, percent, 0, pair);
    }

    static StormTrial.Setting setting(
            String variant, String cell, int percent, int busyPercent, int pair) {
        boolean isSlow = cell.equals("slow") || cell.equals("overload");
        return new StormTrial.Setting(
                variant, cell, 1, 5, percent, "exponential", isSlow ? 3 : 1, busyPercent, pair);
    }

    /** Each acked once; P99.9 is twice P99, and the first task has an even share. */
    static StormTrial run(StormTrial.Setting setting, double p99Ms) {
        return run(setting, p99Ms, 20, setting.variant().equals("shared") ? 70 : 0);
    }

    static StormTrial run(
            StormTrial.Setting setting, double p99Ms, double firstPercent, double movedPercent) {
        return StormTrial.none(setting)
                .with(
                        acked(1000, 0, 0),
                        new StormTrial.Latency(
                                p99Ms / 10,
                                p99Ms / 4,
                                p99Ms / 2,
                                p99Ms,
                                p99Ms * 2,
                                p99Ms * 4,
                                600.0,
                                900.0),
                        shares(setting, firstPercent, movedPercent, 4.0, 6.0),
                        repeats(setting.variant()));
    }

    /** Without a slow task all tuples/s of {@link #shares} are 600, so 3 ms are 36 % load. */
    static StormTrial waited(StormTrial.Setting setting, double waitMs, double serviceMs) {
        return run(setting, 50).with(new StormTrial.Waits(0.5, waitMs, serviceMs));
    }

    /** As many as there should be, of 1,000 tuples. */
    static StormTrial.Repeats repeats(String variant) {
        if (variant.startsWith("blind-")) {
            long sent = 10L * Long.parseLong(variant.substring("blind-".length()));
            return new StormTrial.Repeats(sent, sent / 2, sent / 10.0, null, null, null);
        }
        return variant.startsWith("replay")
                ? new StormTrial.Repeats(15L, 9L, 1.5, 0.0, 27.0, 30.0)
                : new StormTrial.Repeats(0L, 0L, 0.0, null, null, null);
    }

    static StormTrial.Outcome acked(long acked, long twice, long failed) {
        return new StormTrial.Outcome(null, "2.8.3", 1000L, acked, twice, failed);
    }

    static StormTrial.Shares shares(
            StormTrial.Setting setting,
            double firstPercent,
            double movedPercent,
            Double shiftS,
            Double backS) {
        boolean isSlow = setting.hasSlowTask();
        return new StormTrial.Shares(
                movedPercent,
                firstPercent,
                isSlow ? shiftS : null,
                isSlow ? backS : null,
                List.of(List.of(100.0, 125.0, 125.0, 125.0, 125.0)),
                List.of(20.0, 20.0, 15.0, 5.0, 4.0, 18.0, 20.0),
                isSlow ? 2.0 : null,
                isSlow ? 5.0 : null);
    }
}
