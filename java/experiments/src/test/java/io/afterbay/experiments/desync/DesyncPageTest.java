package io.afterbay.experiments.desync;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.bench.Aim;
import io.afterbay.bench.Provenance;
import io.afterbay.bench.RecordedTrial;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DesyncPageTest {
    private final List<RecordedTrial<DesyncTrial>> trials = new ArrayList<>();

    private static DesyncTrial.Setting setting(String cure, @Nullable Integer value, int pair) {
        return new DesyncTrial.Setting(
                "rocksdb-heap-timers",
                cure,
                value,
                16,
                8000,
                6000,
                60,
                700,
                3,
                "disk",
                75,
                null,
                pair);
    }

    private void add(DesyncTrial trial) {
        add("new", trial);
    }

    private void add(String revision, DesyncTrial trial) {
        add(revision, "2026-11-23T10:00:00Z", trial);
    }

    private void add(String revision, String date, DesyncTrial trial) {
        trials.add(
                new RecordedTrial<>(
                        new Provenance(
                                "desync",
                                revision,
                                Map.of("flink", "2.3.0"),
                                "./afterbay bench desync",
                                date,
                                0.1,
                                2.0,
                                0.05),
                        trial));
    }

    private void open(String cure, int pair, double p999Ms, String verdict) {
        add(run(setting(cure, null, pair), p999Ms, verdict));
    }

    private static DesyncTrial run(DesyncTrial.Setting setting, double p999Ms, String verdict) {
        return run(setting, p999Ms, verdict, new DesyncTrial.Pools(1, 2));
    }

    private static DesyncTrial run(
            DesyncTrial.Setting setting, double p999Ms, String verdict, DesyncTrial.Pools pools) {
        return DesyncTrial.none(setting)
                .with(
                        "rows",
                        new DesyncTrial.Latency(
                                7500.0,
                                10.0,
                                p999Ms / 8,
                                p999Ms / 4,
                                p999Ms / 2,
                                p999Ms,
                                p999Ms,
                                p999Ms,
                                0.74,
                                900L),
                        new DesyncTrial.Overlap(
                                verdict, 0.9, 33, 600, 0.99, 132, 800.0, 32, 3, 0.5, 1, 700.0, 2,
                                0),
                        new DesyncTrial.Gate(12L, 9000.0, 300.0),
                        pools);
    }

    private void rate() {
        add(
                DesyncTrial.none(setting("default", null, 1).ofRate())
                        .with(10_000, 190, DesyncTrial.Latency.of(7500, 0.76)));
    }

    /** The default has run again since, at another rate perhaps. */
    @Test
    void onlyRunsOfOneRevisionAreCompared() {
        add("old", run(setting("default", null, 1), 4000, "ALIGNED"));
        add("old", run(setting("spread", null, 1), 1000, "NOT_ALIGNED"));
        add("new", run(setting("default", null, 1), 2000, "ALIGNED"));
        add("new", run(setting("gate", null, 1), 1000, "ALIGNED"));
        assertThat(new DesyncPage(trials).details()).contains("gate 0.50x, spread 0.25x");
    }

    /** Each call numbers its rounds from 1. */
    @Test
    void onlyRunsOfOneRoundAreCompared() {
        String morning = "2026-11-23T08:00:00Z";
        String evening = "2026-11-23T18:00:00Z";
        add("new", morning, run(setting("default", null, 1), 1000, "ALIGNED"));
        add("new", morning, run(setting("spread", null, 1), 500, "NOT_ALIGNED"));
        add("new", evening, run(setting("default", null, 1), 4000, "ALIGNED"));
        add("new", evening, run(setting("gate", null, 1), 1000, "ALIGNED"));
        assertThat(new DesyncPage(trials).details())
                .contains("gate 0.25x, spread 0.50x", "| 0.50 [0.50..0.50] |")
                .contains("| default | 10.0 [10.0..10.0] | 313 [125..500] |");
    }

    @Test
    void aCureWithoutADefaultInItsRoundHasNoRatio() {
        add("new", "2026-11-23T08:00:00Z", run(setting("default", null, 1), 1000, "ALIGNED"));
        add("new", "2026-11-23T18:00:00Z", run(setting("gate", null, 1), 1000, "ALIGNED"));
        assertThat(new DesyncPage(trials).details()).doesNotContain("gate 1.00x");
        assertThat(new DesyncPage(trials).aims()).noneMatch(Aim::isMeasured);
    }

    /** Whoever gains at the end must not lose before it. */
    @Test
    void noFigureMayBecomeWorse() {
        open("default", 1, 1000, "ALIGNED");
        DesyncTrial.Latency latency =
                new DesyncTrial.Latency(
                        7500.0, 10.0, 100.0, 300.0, 400.0, 100.0, 100.0, 100.0, 0.74, 900L);
        DesyncTrial gate = run(setting("gate", null, 1), 1000, "ALIGNED");
        add(gate.with("rows", latency, gate.overlap(), gate.gate(), gate.pools()));
        DesyncPage page = new DesyncPage(trials);
        assertThat(page.aims().get(2).measured()).as("of P95").startsWith("1.20x (");
        assertThat(page.details())
                .contains(
                        "- Aim: none of P95, P99 and P99.9 is above 1.05x of the default's. Met by 0 of 1.");
    }

    /** On two processors, as many threads as processors are what Flink sets anyway. */
    @Test
    void whatSetsTheThreadsThatWereThereIsNoCure() {
        open("default", 1, 1000, "ALIGNED");
        open("knee", 1, 700, "ALIGNED");
        add(run(setting("flushes", null, 1), 800, "ALIGNED", new DesyncTrial.Pools(2, 2)));
        DesyncPage page = new DesyncPage(trials);
        assertThat(page.details())
                .contains(
                        "earns its keep: flushes 0.80x; set as many threads as there were, so much do"
                                + " runs differ: knee 0.70x.");
        assertThat(page.aims().get(0).values()).hasSize(1);
    }

    /** Lines from before threads were recorded. */
    @Test
    void aKneeThatWasNotFoundIsNoCure() {
        for (String cure : List.of("default", "knee")) {
            DesyncTrial run = run(setting(cure, null, 1), 1000, "ALIGNED");
            add(
                    run.with(
                            "rows",
                            run.latency(),
                            new DesyncTrial.Overlap(
                                    "ALIGNED", 0.9, 33, 600, 0.99, 132, 800.0, 32, 2, 0.5, null,
                                    null, null, 0),
                            run.gate(),
                            DesyncTrial.Pools.NONE));
        }
        assertThat(new DesyncPage(trials).details())
                .contains("set as many threads as there were, so much do runs differ: knee 1.00x.");
    }

    @Test
    void comparesEachCureWithTheDefault() {
        rate();
        open("default", 1, 1000, "ALIGNED");
        open("spread", 1, 200, "NOT_ALIGNED");
        open("default", 2, 2000, "ALIGNED");
        open("spread", 2, 300, "NOT_ALIGNED");
        open("rate-limit", 1, 3000, "ALIGNED");
        open("knee", 1, 1000, "ALIGNED");
        String setting =
                "16 subtasks, checkpoints every 8.0 s, 3 threads, disk, 6000 B x 60, work 700, 75 % load";
        assertThat(new DesyncPage(trials).details())
                .contains(
                        "- Aim: P99.9 is at most 0.2x of the default's where that is five times its median or more and instances are aligned. Met by 1 of 1.",
                        "- Aim: none of P95, P99 and P99.9 is above 1.05x of the default's. Met by 1 of 1.",
                        "- "
                                + setting
                                + " (aligned): earns its keep: spread 0.18x; makes it worse: rate-limit 3.00x; set as many threads as there were, so much do runs differ: knee 1.00x.",
                        "| "
                                + setting
                                + " | 10,000 [10,000..10,000] | 190 [190..190] | 7,500 [7,500..7,500] | 76.0 [76.0..76.0] % |",
                        "| " + setting + " | default | 10.0 [10.0..10.0] |",
                        "| 0.18 [0.15..0.20] | 0.18 [0.15..0.20] | 0.18 [0.15..0.20] | 74.0 [74.0..74.0] % | 2 pairs | new |",
                        "| spread | 1, 2 | 0.99 [0.99..0.99] | 1.00 [1.00..1.00] | 700 [700..700] | not aligned | 0.90 [0.90..0.90] |");
    }

    @Test
    void whereTheDefaultHasNoTailThereIsNothingToCure() {
        open("default", 1, 40, "ALIGNED");
        open("gate", 1, 44, "ALIGNED");
        assertThat(new DesyncPage(trials).details())
                .contains("instances are aligned. Not measured.")
                .contains("(aligned, but latency bears it): makes it worse: gate 1.10x.")
                .contains("is above 1.05x of the default's. Met by 0 of 1.");
    }

    @Test
    void whereInstancesAreNotAlignedThereIsNothingToSpread() {
        open("default", 1, 4000, "NOT_ALIGNED");
        open("spread", 1, 4000, "NOT_ALIGNED");
        assertThat(new DesyncPage(trials).details())
                .contains("(the default is not aligned, there is nothing to spread): makes no")
                .contains("instances are aligned. Not measured.");
    }

    @Test
    void partlyAlignedIsSaid() {
        open("default", 1, 4000, "PARTLY_ALIGNED");
        open("all", 1, 6000, "NOT_ALIGNED");
        assertThat(new DesyncPage(trials).details())
                .contains("(partly aligned): makes it worse: all 1.50x.");
    }

    @Test
    void kafkaStreamsStandsApart() {
        for (String cure : List.of("default", "spread")) {
            DesyncTrial.Setting setting =
                    new DesyncTrial.Setting(
                            "kafka-streams-4.2",
                            cure,
                            null,
                            64,
                            8000,
                            0,
                            0,
                            0,
                            2,
                            "disk",
                            70,
                            1_000_000,
                            1);
            add(run(setting, cure.equals("spread") ? 500 : 1000, "ALIGNED"));
        }
        open("default", 1, 1000, "ALIGNED");
        assertThat(new DesyncPage(trials).details())
                .contains(
                        "- kafka-streams-4.2, 64 partitions, commits every 8.0 s, disk, 1,000,000 words, 70 % load (aligned): earns its keep: spread 0.50x.");
    }

    @Test
    void sweepsStandBesideTheDefaultAndNotAmongCures() {
        open("default", 1, 1000, "ALIGNED");
        for (int threads : List.of(16, 2)) {
            add(run(setting("compaction-threads", threads, 1), 100 * threads, "ALIGNED"));
        }
        String details = new DesyncPage(trials).details();
        String sweep = details.substring(details.indexOf("`--sweep compaction-threads` ("));
        assertThat(sweep.indexOf("| default | 10.0"))
                .isPositive()
                .isLessThan(sweep.indexOf("| 2 | 10.0"));
        assertThat(sweep.indexOf("| 2 | 10.0")).isLessThan(sweep.indexOf("| 16 | 10.0"));
        assertThat(sweep)
                .contains(
                        "| 1.60 [1.60..1.60] |",
                        "| 2.00 [2.00..2.00] | one pair, indicative | new |");
        assertThat(details).doesNotContain("compaction-threads 0.20x");
    }

    @Test
    void figuresComeBackFromTheFile(@TempDir Path directory) throws IOException {
        rate();
        open("default", 1, 1000, "ALIGNED");
        add(run(setting("delay", 1000, 1), 100, "ALIGNED"));
        add(DesyncTrial.none(setting("gate", null, 1)).failed("no room"));
        RecordedTrial.append(directory, trials);
        assertThat(DesyncPage.read(directory)).isEqualTo(trials);
        assertThat(new DesyncPage(List.of()).details()).contains("No comparison is recorded");
    }

    /** In those, load was a share of another thing. */
    @Test
    void linesOfTheFirstFormAreLeftOut(@TempDir Path directory) throws IOException {
        DesyncTrial.Setting first =
                new DesyncTrial.Setting(
                        "rocksdb-heap-timers",
                        "default",
                        null,
                        16,
                        8000,
                        6000,
                        0,
                        0,
                        3,
                        "",
                        75,
                        null,
                        1);
        add(run(first, 1000, "ALIGNED"));
        RecordedTrial.append(directory, trials);
        assertThat(DesyncPage.read(directory)).isEmpty();
    }
}
