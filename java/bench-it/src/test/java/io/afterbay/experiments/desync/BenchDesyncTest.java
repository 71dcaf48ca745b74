package io.afterbay.experiments.desync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.Command;
import io.afterbay.doctor.Doctor;
import io.afterbay.experiments.ShortForm;
import io.afterbay.experiments.bench.Bench;
import io.afterbay.testing.LongForm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchDesyncTest {
    private static final DesyncKind KIND = new DesyncKind(List.of(), true);

    @TempDir private Path directory;

    private String refused(String... more) {
        return new ShortForm(directory, "desync").refused(more);
    }

    private int run(String... more) throws Exception {
        return new ShortForm(directory, "desync").run(more);
    }

    /** What the experiment makes, the doctor finds; and that it is cured, too. */
    @Test
    @LongForm
    void theQuickFormShowsTheProblemAndTheCure() throws Exception {
        Command command = new Command(directory);
        Path kept = directory.resolve("kept");
        assertThat(run("--keep=" + kept)).as(command.err()).isZero();
        JsonNode runs = command.summary();
        assertThat(runs).hasSize(3);
        JsonNode uncured = runs.get(1);
        JsonNode cured = runs.get(2);
        assertThat(uncured.get("verdict").asText()).isEqualTo("ALIGNED");
        assertThat(cured.get("verdict").asText()).isEqualTo("NOT_ALIGNED");
        assertThat(cured.get("alignment").asDouble())
                .isLessThan(uncured.get("alignment").asDouble() / 2);
        assertThat(cured.get("most_per_round").asInt())
                .isLessThan(uncured.get("most_per_round").asInt());
        assertThat(cured.get("rows")).isEqualTo(uncured.get("rows"));
        assertThat(uncured.get("p50_ms").asDouble()).isPositive();
        assertThat(uncured.get("p90_ms").asDouble())
                .isBetween(uncured.get("p50_ms").asDouble(), uncured.get("p95_ms").asDouble());
        assertThat(uncured.get("flush_threads").asInt()).as("of Flink").isOne();
        assertThat(uncured.get("compaction_threads").asInt()).as("of Flink").isOne();
        assertThat(uncured.get("most_flushes").asInt()).isOne();
        assertThat(uncured.get("for_checkpoints").asDouble()).isGreaterThan(0.9);
        assertThat(uncured.get("busy").asDouble()).isBetween(0.01, 1.0);
        assertThat(runs.get(0).get("rate_per_s").asDouble())
                .isEqualTo(uncured.get("rate_per_s").asDouble());
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();

        List<String> windows =
                Files.readAllLines(
                        kept.resolve("8-subtasks-2000-ms-2-threads-default-1/latency.csv"));
        assertThat(windows).hasSizeGreaterThan(100).startsWith("time_ms,latency_ms,cpu,queue");
        assertThat(windows.get(1)).matches("\\d{13},\\d+\\.\\d{3},[01]\\.\\d\\d,\\d+");

        assertThat(doctor(kept.resolve("8-subtasks-2000-ms-2-threads-default-1")))
                .startsWith("Aligned: ")
                .contains("io.afterbay.flink.DesyncRocksDBOptionsFactory");
        assertThat(doctor(kept.resolve("8-subtasks-2000-ms-2-threads-spread-1")))
                .startsWith(
                        "Not aligned: 17 instances compact at different times; cured, their triggers"
                                + " differ (4 to 7 files)\n")
                .doesNotContain("trigger-spread");
    }

    private String doctor(Path run) throws Exception {
        Command command = new Command(directory);
        assertThat(run.resolve("doctor.html")).isNotEmptyFile();
        int code =
                command.runMain(
                        Doctor.class,
                        run.resolve("logs").toString(),
                        "--latency=" + run.resolve("latency.csv"));
        assertThat(code).as(command.err()).isZero();
        return command.out();
    }

    /** Counts, not times: five threads are four for compactions. */
    @Test
    @LongForm
    void otherCuresDoWhatTheyAreFor() throws Exception {
        Command command = new Command(directory);
        assertThat(run("--cures=one-thread,gate,knee", "--threads=5", "--open=24s"))
                .as(command.err())
                .isZero();
        JsonNode runs = command.summary();
        assertThat(runs).hasSize(4);
        JsonNode gated = runs.get(2);
        assertThat(runs.get(1).get("most_at_once").asInt()).isOne();
        assertThat(runs.get(1).get("holds").asLong()).isZero();
        assertThat(runs.get(1).get("compaction_threads").asInt()).isOne();
        assertThat(gated.get("flush_threads").asInt()).as("a quarter").isOne();
        assertThat(gated.get("compaction_threads").asInt()).as("the others").isEqualTo(4);
        assertThat(gated.get("holds").asLong()).isPositive();
        assertThat(gated.get("held_ms").asDouble()).isPositive();
        assertThat(gated.get("delay_ms").asDouble()).isBetween(50.0, 3000.0);
        assertThat(runs.get(3).get("rows")).isEqualTo(gated.get("rows"));
    }

    @Test
    @LongForm
    void aCureThatIsSwitchedOffIsNoticed() throws Exception {
        assertThat(run("-Dstate.backend.rocksdb.desync.trigger-spread=false")).isEqualTo(1);
        assertThat(new Command(directory).err())
                .contains("spread: instances compact together as without");
    }

    /**
     * Before 4.3, commits flush. It counts five times as long as a quick form, so that there is
     * enough to compact on a busy machine, too.
     */
    @Test
    @LongForm
    void wordCountRunsOnKafkaStreams() throws Exception {
        Command command = new Command(directory);
        assertThat(run("--on=kafka-streams-4.2", "--cures=default,flushes", "--open=150s"))
                .as(command.err())
                .isZero();
        JsonNode runs = command.summary();
        assertThat(runs).hasSize(3);
        JsonNode uncured = runs.get(1);
        assertThat(uncured.get("backend").asText()).isEqualTo("kafka-streams-4.2");
        assertThat(uncured.get("for_checkpoints").asDouble()).isEqualTo(1);
        assertThat(uncured.get("flushes").asInt()).isGreaterThan(8);
        assertThat(uncured.get("compactions").asInt()).isPositive();
        assertThat(uncured.get("p999_ms").asDouble()).isPositive();
        assertThat(uncured.get("busy").asDouble()).isBetween(0.01, 1.0);
        assertThat(runs.get(2).get("rows")).isEqualTo(uncured.get("rows"));
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--cures=magic | 'magic' is none; use one of default, one-thread",
                "--backends=hashmap | --backends: this experiment is about RocksDB",
                "--parallelism=4 | --parallelism: use --subtasks instead",
                "--checkpoint-interval=1s | use --intervals instead",
                "--intervals=1ms | use 10ms or more",
                "--subtasks=0 | use numbers from 1 to 128",
                "--threads=1 | use 2 or more",
                "--load=101 | use 1 to 100",
                "--payload=-1 | use 0 or more",
                "--keep=/ | name a new directory",
                "--history=0 | --history 0: use 1 or more",
                "--work=-1 | --work -1: use 0 or more",
                "--sweep=magic | 'magic' is none; use one of delay, flush-threads",
                "--on=storm | 'storm' is none; use one of flink, kafka-streams-4.2",
                "--vocabulary=5 | --vocabulary: not with --on flink",
                "--values=1,2 | --values: say of what, with --sweep",
                "--tmpfs=/no/such/place | /no/such/place is no directory",
            })
    void wrongOptionsAreRefused(String option, String message) {
        assertThat(refused(option.strip())).contains(message.strip());
    }

    @Test
    void twoPlacesForStateAreRefused() {
        assertThat(refused("--tmpfs=/no/such/place", "--work-dir=" + directory))
                .contains("--tmpfs and --work-dir: both say where state is");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--history=5 | --history: not with --on kafka-streams-4.2",
                "--threads=5 | --threads: not with --on kafka-streams-4.2",
                "--vocabulary=0 | --vocabulary 0: use 1 or more",
            })
    void whatKafkaStreamsDoesNotHaveIsRefused(String option, String message) {
        assertThat(refused("--on=kafka-streams-4.2", option.strip())).contains(message.strip());
    }

    @Test
    void aSweepHasItsOwnValues() {
        assertThat(refused("--sweep=delay", "--values=1000,20"))
                .contains("--values: 20 for delay: use 50 to 50000");
    }

    private static DesyncKind kind(String... options) {
        List<String> words = new ArrayList<>(List.of("desync", "--subtasks=16"));
        words.addAll(List.of(options));
        var parsed = Bench.commandLine().parseArgs(words.toArray(String[]::new));
        CommandLine command = parsed.subcommand().commandSpec().commandLine();
        BenchDesyncCommand bench = (BenchDesyncCommand) command.getCommandSpec().userObject();
        return (DesyncKind) bench.checked(command);
    }

    /** Whatever comes first meets a machine that was at rest. */
    @Test
    void eachRoundBeginsWithAnotherCure() {
        DesyncKind kind = kind("--cures=default,spread,gate", "--intervals=8s", "--pairs=3");
        assertThat(kind.rounds().subList(1, 4))
                .extracting(round -> round.stream().map(plan -> plan.setting().cure()).toList())
                .containsExactly(
                        List.of("default", "spread", "gate"),
                        List.of("spread", "gate", "default"),
                        List.of("gate", "default", "spread"));
    }

    /** The same names with other marks. */
    @Test
    void curesAndSweepsAreForBothEngines() {
        String kafka = "--on=kafka-streams-4.2";
        DesyncPlan tuned = kind("--cures=tuned", kafka, "--pairs=1").rounds().get(1).get(0);
        assertThat(KafkaCure.settings(tuned))
                .containsEntry(
                        "rocksdb.config.setter", "io.afterbay.kafka.DesyncRocksDBConfigSetter")
                .containsEntry("afterbay.desync.trigger.spread", "true")
                .containsEntry("afterbay.desync.gate.delay.ms", "300")
                .containsEntry("afterbay.desync.flush.threads", "4");
        assertThat(tuned.setting().loadPercent()).isEqualTo(70);
        assertThat(DesyncCure.TUNED.settings())
                .containsEntry("state.backend.rocksdb.desync.gate.delay", "300 ms")
                .containsEntry("state.backend.rocksdb.desync.flush-threads", "4");
        List<DesyncPlan> swept =
                kind("--sweep=delay", "--values=1000", kafka, "--pairs=1").rounds().get(1);
        assertThat(swept).hasSize(2);
        assertThat(KafkaCure.settings(swept.get(0))).hasSize(1);
        assertThat(KafkaCure.settings(swept.get(1)))
                .containsEntry("afterbay.desync.gate.delay.ms", "1000")
                .containsEntry("afterbay.desync.gate.deadline.ms", "11000");
    }

    /** Whether it is installed or not. */
    @Test
    void unsyncedRunsHaveTheLibraryOrNameIt() throws Exception {
        DesyncPlan plan = kind("--cures=default", "--pairs=1").rounds().get(1).get(0);
        assertThat(plan.environment()).isEmpty();
        if (UnsyncedFiles.library().isEmpty()) {
            assertThat(refused("--cures=no-sync")).contains("apt-get install libeatmydata1");
        } else {
            assertThat(kind("--cures=no-sync", "--pairs=1").rounds().get(1).get(0).environment())
                    .containsEntry("LD_PRELOAD", UnsyncedFiles.library().get().toString());
        }
    }

    /** Runs of two calls have met the machine in two states. */
    @Test
    void whatRanInTwoRoundsIsNoRound() {
        DesyncKind kind = kind("--cures=default,gate", "--intervals=8s", "--pairs=1");
        List<DesyncPlan> round = kind.rounds().get(1);
        DesyncTrial uncured = round.get(0).trial();
        DesyncTrial gated = round.get(1).trial();
        assertThat(kind.isRecorded(round, List.of(List.of(uncured), List.of(gated)))).isFalse();
        assertThat(kind.isRecorded(round, List.of(List.of(gated, uncured)))).isTrue();
    }

    @Test
    void runsOfARoundMustHaveTheSameRows() {
        DesyncTrial one =
                trial("default")
                        .with(
                                "1",
                                latency(),
                                overlap("NOT_ALIGNED"),
                                DesyncTrial.Gate.NONE,
                                DesyncTrial.Pools.NONE);
        DesyncTrial other =
                trial("gate")
                        .with(
                                "2",
                                latency(),
                                overlap("NOT_ALIGNED"),
                                DesyncTrial.Gate.NONE,
                                DesyncTrial.Pools.NONE);
        assertThat(KIND.problems(List.of(one, one))).isEmpty();
        assertThat(KIND.problems(List.of(one, other))).hasSize(1);
    }

    /** Counts, since a busy machine makes both verdicts weaker. */
    @Test
    void aCureThatLeavesAsManyTogetherIsNone() {
        DesyncTrial uncured = together("default", "PARTLY_ALIGNED", 16);
        assertThat(KIND.problems(List.of(uncured, together("spread", "NOT_ALIGNED", 5)))).isEmpty();
        assertThat(KIND.problems(List.of(uncured, together("spread", "PARTLY_ALIGNED", 16))))
                .containsExactly(
                        "spread: instances compact together as without: 16 of 8 after one"
                                + " checkpoint");
        assertThat(KIND.problems(List.of(uncured, together("tuned", "ALIGNED", 15)))).hasSize(1);
        DesyncTrial apart = together("default", "NOT_ALIGNED", 3);
        assertThat(KIND.problems(List.of(apart, together("spread", "NOT_ALIGNED", 2))))
                .containsExactly(
                        "default: instances did not compact together, so no cure was shown; on a"
                                + " busy machine, try again");
        assertThat(KIND.problems(List.of(apart, together("gate", "NOT_ALIGNED", 3)))).isEmpty();
        assertThat(new DesyncKind(List.of(), false).problems(List.of(apart, apart))).isEmpty();
        assertThat(KIND.problems(List.of(uncured, together("gate", "ALIGNED", 16)))).isEmpty();
    }

    private static DesyncTrial together(String cure, String verdict, int most) {
        return trial(cure)
                .with(
                        "1",
                        latency(),
                        new DesyncTrial.Overlap(
                                verdict, 0.1, 8, 100, 0.9, 20, 10.0, most, 1, 0.1, 1, 50.0, null,
                                0),
                        DesyncTrial.Gate.NONE,
                        DesyncTrial.Pools.NONE);
    }

    private static DesyncTrial trial(String cure) {
        return DesyncTrial.none(
                new DesyncTrial.Setting(
                        "rocksdb-heap-timers",
                        cure,
                        null,
                        8,
                        500,
                        6000,
                        60,
                        0,
                        2,
                        "disk",
                        75,
                        null,
                        1));
    }

    private static DesyncTrial.Latency latency() {
        return new DesyncTrial.Latency(1000.0, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 5.0, 0.7, 10L);
    }

    private static DesyncTrial.Overlap overlap(String verdict) {
        return new DesyncTrial.Overlap(
                verdict, 0.1, 8, 100, 0.9, 20, 10.0, 2, 1, 0.1, 1, 50.0, null, 0);
    }
}
