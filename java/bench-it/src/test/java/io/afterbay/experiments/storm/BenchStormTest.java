package io.afterbay.experiments.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.Command;
import io.afterbay.experiments.ShortForm;
import io.afterbay.experiments.bench.Bench;
import io.afterbay.handover.stragglers.StragglerPlan;
import io.afterbay.handover.stragglers.StragglerTopology;
import io.afterbay.handover.stragglers.StragglerTopology.Limit;
import io.afterbay.testing.LongForm;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchStormTest {
    @TempDir private Path directory;

    private String refused(String... more) {
        return new ShortForm(directory, "storm").refused(more);
    }

    private int run(String... more) throws Exception {
        return new ShortForm(directory, "storm").run(more);
    }

    /** The smallest run that there is, and the control of all of them. */
    @Test
    void withThePolicyOffItEndsWithOne() throws Exception {
        Command command = new Command(directory);
        assertThat(run("--policy=off", "--variants=balanced", "--warmup=1s", "--open=2s"))
                .as(command.err())
                .isEqualTo(1);
        assertThat(command.err()).contains("of an even share, balanced: is it off?");
        JsonNode run = command.summary().get(0);
        assertThat(run.get("acked").asLong()).isPositive();
        assertThat(run.get("acked")).isEqualTo(run.get("tuples"));
        assertThat(run.get("acked_twice").asInt(-1)).isZero();
        assertThat(run.get("failure").isNull()).isTrue();
        for (String mean : List.of("mean_held_ms", "mean_wait_ms", "mean_service_ms")) {
            assertThat(run.get(mean).asDouble()).as(mean).isPositive();
        }
        assertThat(command.out()).contains("| mean wait, ms |").contains("Erlang C");
        assertThat(command.err()).contains("; mean wait ");
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    /** The same with the policy on: the shift, and what other tasks do. */
    @Test
    @LongForm
    void theQuickFormShowsTheShiftAndTheControls() throws Exception {
        Command command = new Command(directory);
        assertThat(run()).as(command.err()).isZero();
        Map<String, JsonNode> runs = new HashMap<>();
        command.summary().forEach(run -> runs.put(run.get("variant").asText(), run));
        assertThat(runs).containsOnlyKeys("load-aware", "shared", "balanced", "replay-always");
        assertThat(runs.get("balanced").get("first_task_percent").asDouble())
                .isLessThan(runs.get("load-aware").get("first_task_percent").asDouble() / 2);
        assertThat(runs.get("shared").get("moved_percent").asDouble()).isGreaterThan(1);
        JsonNode replayed = runs.get("replay-always");
        assertThat(replayed.get("sent_twice").asLong()).isPositive();
        assertThat(replayed.get("extra_work_percent").asDouble()).isBetween(0.001, 3.0);
        assertThat(runs.get("load-aware").get("sent_twice").asLong()).isZero();
        assertThat(runs.values())
                .allSatisfy(run -> assertThat(run.get("p999_ms").asDouble()).isPositive())
                .allSatisfy(run -> assertThat(run.get("storm").asText()).startsWith("2.8."));
        assertThat(command.out())
                .contains("- Aim: ", "| shared |", "| slow for 1 s |", "| extra work, % |");
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    @Test
    @LongForm
    void withThePolicyOffNothingMoves() throws Exception {
        assertThat(run("--policy=off", "--variants=shared", "--warmup=1s", "--open=2s"))
                .isEqualTo(1);
        assertThat(new Command(directory).err()).contains("other tasks did 0.0 % of the tuples");
    }

    /** Of one call: replays, and tuples that are sent twice at once. */
    @Test
    void withThePolicyOffNothingIsSentTwice() throws Exception {
        assertThat(
                        run(
                                "--policy=off",
                                "--variants=replay-always,blind-20",
                                "--cells=replication",
                                "--warmup=1s",
                                "--open=2s"))
                .isEqualTo(1);
        Command command = new Command(directory);
        assertThat(command.err())
                .contains(
                        "replay-always, pair 1: late tuples are to be sent twice, and none was: is it off?",
                        "blind-20, pair 1: 20 % of the tuples should be sent twice, and extra work is 0.0 %: is it off?");
        command.summary().forEach(run -> assertThat(run.get("sent_twice").asLong(-1)).isZero());
    }

    /** The same with the policy on. */
    @Test
    @LongForm
    void tuplesAreReplayedAndSentTwiceAtOnce() throws Exception {
        assertThat(
                        run(
                                "--variants=replay-always,blind-20",
                                "--cells=replication",
                                "--warmup=2s",
                                "--open=3s"))
                .isZero();
        new Command(directory)
                .summary()
                .forEach(
                        run -> {
                            assertThat(run.get("sent_twice").asLong()).isPositive();
                            assertThat(run.get("acked")).isEqualTo(run.get("tuples"));
                        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--variants=magic | 'magic' is none; use one of shuffle, load-aware",
                "--cells=hot | 'hot' is none; use one of queue, slow, overload",
                "--service=normal | 'normal' is none; use one of exponential, fixed",
                "--policy=maybe | 'maybe' is none; use one of on, off",
                "--backends=hashmap | Unknown option: '--backends=hashmap'",
                "--memory=2g | Unknown option: '--memory=2g'",
                "--tasks=1 | --tasks 1: use numbers from 2 to 32",
                "--utilisations=100 | --utilisations 100: use numbers from 1 to 99",
                "--busy=95 | --busy 95: use numbers from 0 to 90",
                "--cells=slow,pageload-low --stages=2 | --stages: pageload-low has bolts of its own; name --cells",
                "--stages=9 | --stages 9: use numbers from 1 to 5",
                "--cells=slow,slow | --cells: name each of them once",
                "--open=0s | --open: use 1s or more",
                "--operations=99 | --operations 99: use numbers from 100 to 10000000",
                "--operations=2000 --open=5s | --operations and --open: each says how long tuples count; use one",
                "--pairs=0 | --pairs 0: use 1 or more",
            })
    void wrongOptionsAreRefused(String option, String message) {
        assertThat(refused(option.strip().split(" "))).contains(message.strip());
    }

    private static StormKind kind(String... options) {
        List<String> words = new ArrayList<>(List.of("storm"));
        words.addAll(List.of(options));
        var parsed = Bench.commandLine().parseArgs(words.toArray(String[]::new));
        CommandLine command = parsed.subcommand().commandSpec().commandLine();
        BenchStormCommand bench = (BenchStormCommand) command.getCommandSpec().userObject();
        return (StormKind) bench.checked(command);
    }

    @Test
    void theControlIsNotRecorded() {
        CommandLine command = Bench.commandLine();
        StringWriter err = new StringWriter();
        command.setErr(new PrintWriter(err, true));
        assertThat(command.execute("storm", "--policy=off")).isEqualTo(2);
        assertThat(err.toString()).contains("--policy off: only with --quick");
    }

    /** The paper's table 2: four operators of five tasks each. */
    @Test
    void replaysAreComparedWithBlindReplication() {
        List<StormPlan> round = kind("--cells=replication").rounds().get(0);
        assertThat(round)
                .extracting(plan -> plan.setting().variant())
                .containsExactly("load-aware", "replay", "blind-20", "blind-50", "blind-100");
        assertThat(round)
                .extracting(plan -> plan.run().senders().replicatedShare())
                .containsExactly(0.0, 0.0, 0.2, 0.5, 1.0);
        assertThat(round.get(1).run().senders().technique()).isEqualTo("replay");
        StragglerTopology topology = round.get(0).run().topology();
        assertThat(topology.sources()).isEqualTo(5);
        assertThat(topology.stages()).extracting(stage -> stage.tasks()).containsExactly(5, 5, 5);
        assertThat(round.get(0).setting().service()).isEqualTo("pauses");
    }

    /** The paper's table 4. */
    @Test
    void eachTechniqueRunsOnBothSidesOfWhatLimitsReplays() {
        List<List<StormPlan>> rounds = kind("--cells=limits", "--pairs=1").rounds();
        assertThat(rounds)
                .extracting(round -> round.get(0).setting().utilisationPercent())
                .containsExactly(40, 40, 70, 70);
        assertThat(rounds)
                .extracting(round -> round.get(0).run().load().busyShare())
                .containsExactly(0.0, 0.5, 0.0, 0.5);
        assertThat(rounds.get(0))
                .extracting(plan -> plan.setting().variant())
                .contains("replay", "replay-always", "shared", "balanced", "load-aware-64");
    }

    /** The paper's table 3. */
    @Test
    void workersHaveUnevenTasksOrProgramsBesideOrHalfAMachine() {
        List<StormPlan> runs =
                Stream.of("uneven", "beside", "mixed")
                        .map(cell -> kind("--cells=" + cell, "--pairs=1").rounds().get(0).get(0))
                        .toList();
        assertThat(runs)
                .allSatisfy(plan -> assertThat(plan.run().topology().workers()).isEqualTo(5))
                .allSatisfy(plan -> assertThat(plan.run().topology().sources()).isEqualTo(5));
        assertThat(runs)
                .extracting(plan -> plan.run().topology().stages().get(2).tasks())
                .containsExactly(3, 5, 5);
        assertThat(runs)
                .extracting(plan -> competitors(plan.run().topology()))
                .containsExactly(0, 2, 0);
        assertThat(runs)
                .extracting(plan -> processors(plan.run().topology()))
                .containsExactly(10, 10, 9);
        assertThat(kind("--cells=mixed").rounds().get(0))
                .extracting(plan -> plan.setting().variant())
                .contains(
                        "load-aware",
                        "load-aware-anywhere",
                        "load-aware-64",
                        "load-aware-64-anywhere",
                        "algorithm-2",
                        "balanced");
    }

    /** Two scenarios of table 3 again, without a model. */
    @Test
    void workersInCgroupsHaveACompressorBesideOrHalfOfWhatOthersHave() {
        StragglerTopology beside =
                kind("--cells=beside-cgroup").rounds().get(0).get(0).run().topology();
        assertThat(beside.limits()).hasSize(3).filteredOn(Limit::hasCompressor).hasSize(2);
        StragglerTopology mixed =
                kind("--cells=mixed-cgroup").rounds().get(0).get(0).run().topology();
        assertThat(mixed.limits()).extracting(Limit::percent).containsExactly(20, 40, 40);
        assertThat(mixed.machines()).isEmpty();
    }

    /**
     * The paper's table 5: 240, 530 and 600 tuples a second of each source task, λ of 660 of μ 830.
     */
    @Test
    void yahoosTopologiesHaveThePapersRates() {
        assertThat(ratesOfASourceTask("pageload")).containsExactly(240, 530, 600);
        assertThat(ratesOfASourceTask("processing")).containsExactly(240, 530, 600);
        StragglerPlan high = yahoo("processing", "high").run();
        assertThat(high.load().serviceMs()).isCloseTo(1 / 0.83, within(0.001));
        assertThat(high.topology().workers()).isEqualTo(1);
        assertThat(yahoo("processing", "low").run().topology().workers()).isEqualTo(5);
        assertThat(yahoo("processing", "mixed").run().topology().machines()).hasSize(5);
    }

    private static StormPlan yahoo(String topology, String load) {
        return kind("--cells=" + topology + "-" + load).rounds().get(0).get(0);
    }

    /** In tens, since loads are whole percentages. */
    private static List<Integer> ratesOfASourceTask(String topology) {
        return Stream.of("low", "high", "mixed")
                .map(load -> yahoo(topology, load).run())
                .map(run -> run.load().ratePerS() / run.topology().sources())
                .map(rate -> 10 * (int) Math.round(rate / 10))
                .toList();
    }

    /** Each way is from a bolt before; those that get tuples from two have twice the tasks. */
    @Test
    void yahoosTopologiesHaveTheirBolts() {
        StragglerTopology pageLoad = yahoo("pageload", "low").run().topology();
        assertThat(pageLoad.stages())
                .extracting(StragglerTopology.Stage::name)
                .containsExactly("transform", "filter", "join", "filter-2", "aggregate", "sink");
        assertThat(pageLoad.edges()).hasSize(6);
        StragglerTopology processing = yahoo("processing", "low").run().topology();
        assertThat(processing.stages()).hasSize(6);
        assertThat(processing.edges()).hasSize(7);
        assertThat(processing.stages())
                .allSatisfy(
                        stage -> assertThat(stage.tasks()).isEqualTo(5 * stage.inputs().size()));
        Stream.of(pageLoad, processing)
                .flatMap(topology -> topology.edges().stream())
                .forEach(edge -> assertThat(edge.from()).isLessThan(edge.to()));
    }

    private static int competitors(StragglerTopology of) {
        return of.machines().stream().mapToInt(StragglerTopology.Machine::competitors).sum();
    }

    private static int processors(StragglerTopology of) {
        return of.machines().stream().mapToInt(StragglerTopology.Machine::processors).sum();
    }

    @Test
    void anotherVariantBeginsWithEachPair() {
        List<List<StormPlan>> rounds =
                kind("--cells=queue", "--tasks=4", "--utilisations=78", "--pairs=3").rounds();
        assertThat(rounds)
                .extracting(round -> round.get(0).setting().variant())
                .containsExactly("shuffle", "load-aware", "load-aware-64");
    }

    @Test
    void theFullFormHasAllCellsWithTwoHundredThousandTuples() {
        List<List<StormPlan>> rounds = kind("--pairs=1").rounds();
        assertThat(rounds).hasSize(3 * 6 + 2 + 1 + 4 + 3 + 2 + 6);
        assertThat(rounds)
                .allSatisfy(
                        round ->
                                assertThat(round)
                                        .allSatisfy(
                                                plan ->
                                                        assertThat(
                                                                        plan.run().load().ratePerS()
                                                                                * plan.run()
                                                                                        .countedS())
                                                                .isBetween(200_000.0, 204_000.0)));
    }

    @Test
    void operationsSayHowLongTuplesCount() {
        StragglerPlan plan =
                kind("--cells=queue", "--tasks=4", "--utilisations=78", "--operations=2808")
                        .rounds()
                        .get(0)
                        .get(0)
                        .run();
        assertThat(plan.countedS()).isEqualTo(2);
        assertThat(kind("--quick", "--operations=2700").rounds().get(0).get(0).run().countedS())
                .isEqualTo(5);
    }

    /** λ = 350 a task of μ = 450 (the paper, section 5.1.2). */
    @Test
    void theLoadGivesTheRate() {
        StormPlan plan =
                kind("--cells=queue", "--tasks=4", "--utilisations=78").rounds().get(0).get(0);
        assertThat(plan.run().load().ratePerS()).isEqualTo(4 * 351.0);
        assertThat(plan.run().load().serviceMs()).isBetween(2.2, 2.3);
        assertThat(plan.run().load().slowdown()).isEqualTo(1);
        assertThat(plan.run().afterS()).isZero();
    }
}
