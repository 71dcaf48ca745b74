package io.afterbay.experiments.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.Command;
import io.afterbay.experiments.ShortForm;
import io.afterbay.experiments.bench.Bench;
import io.afterbay.testing.LongForm;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class BenchSparkTest {
    private static final SparkKind KIND = new SparkKind(List.of(), 5);

    @TempDir private Path directory;

    private String refused(String... more) {
        return new ShortForm(directory, "spark").refused(more);
    }

    private int run(String... more) throws Exception {
        return new ShortForm(directory, "spark").run(more);
    }

    /** Rows are right, the control's are not, and the log is written behind the batch. */
    @Test
    @LongForm
    void theQuickFormComparesOursAndFindsTheControl() throws Exception {
        Command command = new Command(directory);
        assertThat(run()).as(command.err()).isZero();
        Map<String, JsonNode> runs = new HashMap<>();
        command.summary().forEach(run -> runs.put(run.get("variant").asText(), run));
        assertThat(runs).containsOnlyKeys("changelog", "strict", "pipelined", "control");
        JsonNode baseline = runs.get("changelog");
        assertThat(baseline.get("commit_offsets_ms").asDouble()).isGreaterThan(40);
        assertThat(runs.get("control").get("rows_right").asBoolean()).isFalse();
        for (String variant : List.of("strict", "pipelined")) {
            JsonNode ours = runs.get(variant);
            assertThat(ours.get("rows").asText()).isEqualTo(baseline.get("rows").asText());
            assertThat(ours.get("rows_right").asBoolean()).isTrue();
            assertThat(ours.get("commit_offsets_ms").asDouble()).isLessThan(40);
            assertThat(ours.get("p50_ms").asDouble()).isPositive();
            assertThat(ours.get("delay_p99_ms").asDouble()).isPositive();
            assertThat(ours.get("rss_mib").asDouble()).isPositive();
            assertThat(ours.get("spark").asText()).startsWith("4.");
            assertThat(ours.get("failure").isNull()).isTrue();
        }
        assertThat(runs.get("pipelined").get("wal_commit_ms").asDouble()).isLessThan(40);
        assertThat(command.out())
                .contains("- Aim: ", "| strict |", "| pipelined |", "wrong, as they should be");
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    /** The smallest run that there is, and the control of all of them. */
    @Test
    @LongForm
    void aRecordThatDoesNotComeIsFound() throws Exception {
        Command command = new Command(directory);
        assertThat(run("--variants=control", "--queries=cm2", "--warmup=1s", "--open=1s"))
                .as(command.err())
                .isZero();
        JsonNode control = command.summary().get(0);
        assertThat(control.get("rows_right").asBoolean(true)).isFalse();
        assertThat(control.get("batches").asInt()).isGreaterThanOrEqualTo(3);
        assertThat(command.out()).contains("wrong, as they should be");
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    /** On a join and an aggregate: each has state behind which its sink waits. */
    @ParameterizedTest
    @LongForm
    @ValueSource(strings = {"lr2", "cm1"})
    void theNextBatchRunsWhileTheLastIsPublished(String query) throws Exception {
        assertThat(run("--variants=pipelined-staggered", "--queries=" + query, "--open=10s"))
                .as(new Command(directory).err())
                .isZero();
        JsonNode ours = new Command(directory).summary().get(0);
        assertThat(ours.get("rows_right").asBoolean()).isTrue();
        assertThat(ours.get("wal_commit_ms").asDouble()).isLessThan(30);
    }

    /** A variant of ours that is none, or is in the other mode: the log is written in the batch. */
    @Test
    @LongForm
    void aFailedRunSaysWhyAndOursThatIsSwitchedOffIsNoticed() throws Exception {
        assertThat(
                        run(
                                "--variants=strict",
                                "-Dspark.sql.streaming.checkpointFileManagerClass="
                                        + "org.apache.spark.sql.execution.streaming.checkpointing"
                                        + ".FileSystemBasedCheckpointFileManager",
                                "--warmup=1s",
                                "--open=3s"))
                .isEqualTo(1);
        assertThat(new Command(directory).err())
                .contains("strict, pair 1: the commit is written in the batch");
        assertThat(
                        run(
                                "--variants=pipelined",
                                "-Dspark.afterbay.commit.mode=strict",
                                "--warmup=1s",
                                "--open=3s"))
                .isEqualTo(1);
        assertThat(new Command(directory).err())
                .contains("pipelined, pair 1: the offsets are written in the batch");
        assertThat(
                        run(
                                "--variants=strict",
                                "-Dspark.sql.streaming.stateStore.checkpointFormatVersion=1"))
                .isEqualTo(1);
        assertThat(new Command(directory).err())
                .contains("it failed: ")
                .contains("checkpointFormatVersion=2");
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--variants=magic | 'magic' is none; use one of snapshot, changelog, async-upload",
                "--queries=q7 | 'q7' is none; use one of lr2, lr4, cm1, cm2",
                "--dfs=hdfs | 'hdfs' is none; use one of local, slow",
                "--backends=hashmap | --backends: use --variants instead",
                "--parallelism=4 | --parallelism: use --partitions instead",
                "--checkpoint-interval=1s | use --triggers instead",
                "--state-memory=64m | Spark's RocksDB has none to itself",
                "--rates=0 | --rates 0: use numbers from 1 to 250000",
                "--partitions=0 | --partitions 0: use numbers from 1 to 1000",
                "--queries=lr2,lr2 | --queries: name each of them once",
                "--open=off | --open: use more than 0",
                "--pairs=0 | --pairs 0: use 1 or more",
                "-Dstate.backend.rocksdb.thread.num=2 | use settings of Spark",
            })
    void wrongOptionsAreRefused(String option, String message) {
        assertThat(refused(option.strip())).contains(message.strip());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--search --rates=5 | --rates and --search: use one of them",
                "--search --variants=control | --variants control: not with --search",
                "--dfs=local --variants=async-upload | only with --dfs slow",
            })
    void wrongCombinationsAreRefused(String options, String message) {
        assertThat(refused(options.strip().split(" "))).contains(message.strip());
    }

    private static SparkKind kind(String... options) {
        List<String> words = new ArrayList<>(List.of("spark"));
        words.addAll(List.of(options));
        var parsed = Bench.commandLine().parseArgs(words.toArray(String[]::new));
        CommandLine command = parsed.subcommand().commandSpec().commandLine();
        BenchSparkCommand bench = (BenchSparkCommand) command.getCommandSpec().userObject();
        return (SparkKind) bench.checked(command);
    }

    @Test
    void anotherVariantBeginsWithEachPair() {
        List<List<SparkPlan>> rounds = kind("--queries=lr4", "--pairs=3").rounds();
        assertThat(rounds).hasSize(3);
        assertThat(rounds)
                .extracting(round -> round.get(0).setting().variant())
                .containsExactly("snapshot", "changelog", "strict");
        assertThat(rounds.get(1))
                .extracting(plan -> plan.setting().variant())
                .containsExactly("changelog", "strict", "pipelined", "snapshot");
    }

    @Test
    void settingsAreSwept() {
        SparkKind kind =
                kind(
                        "--rates=1500,2500",
                        "--dfs=local,slow",
                        "--triggers=off,3s,5s",
                        "--partitions=4,8",
                        "--pairs=1");
        assertThat(kind.rounds()).hasSize(4 * 2 * 2 * 3 * 2);
        assertThat(kind.batchesMin()).isEqualTo(100);
        assertThat(kind.rounds())
                .allSatisfy(
                        round ->
                                assertThat(round)
                                        .extracting(plan -> plan.setting().pair())
                                        .containsOnly(1));
    }

    /** A hundred batches and more, whatever the trigger. */
    @Test
    void timesFollowFromTheTrigger() {
        SparkPlan ofFive = kind("--triggers=5s").rounds().get(0).get(0);
        assertThat(ofFive.run().countedMs()).isEqualTo(550_000);
        assertThat(ofFive.run().limitMs()).isEqualTo(5000);
        SparkPlan without = kind("--queries=cm2").rounds().get(0).get(0);
        assertThat(without.run().countedMs()).isEqualTo(150_000);
        assertThat(without.run().limitMs()).isEqualTo(3000);
    }

    @Test
    void variantsDifferInTheirSettings() {
        List<SparkPlan> round =
                kind(
                                "--queries=lr4",
                                "--triggers=5s",
                                "--variants=snapshot,deadline,async-upload,strict,control")
                        .rounds()
                        .get(0);
        assertThat(round.get(0).run().deadlineMs()).isZero();
        assertThat(round.get(1).run().deadlineMs()).isEqualTo(5000);
        assertThat(round.get(1).run().triggerMs()).isZero();
        assertThat(round.get(2).run().settings()).containsKey("spark.hadoop.fs.slow.async-state");
        assertThat(round.get(3).run().settings()).containsKey("spark.plugins");
        assertThat(round.get(3).run().losesRecord()).isFalse();
        assertThat(round.get(4).run().losesRecord()).isTrue();
        assertThat(round.get(4).run().settings()).doesNotContainKey("spark.plugins");
    }

    private static SparkTrial trial(String variant, boolean isRight, int batches, double logMs) {
        return trial(variant, isRight, batches, logMs, logMs);
    }

    private static SparkTrial trial(
            String variant, boolean isRight, int batches, double offsetsMs, double commitMs) {
        SparkTrial.Setting setting = new SparkTrial.Setting(variant, "lr4", 1000, "slow", 0, 2, 1);
        return SparkTrial.none(setting)
                .with(
                        "4.2.0",
                        "rows",
                        isRight,
                        new SparkTrial.Times(batches, 1L, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
                        new SparkTrial.Parts(
                                100.0, offsetsMs, 1.0, 1.0, commitMs, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0),
                        SparkTrial.Snapshots.NONE,
                        SparkTrial.Cost.NONE);
    }

    @Test
    void whatIsWrongIsSaid() {
        assertThat(KIND.problems(trial("changelog", true, 5, 50))).isEmpty();
        assertThat(KIND.problems(trial("strict", true, 5, 50, 5))).isEmpty();
        assertThat(KIND.problems(trial("pipelined", true, 5, 5, 5))).isEmpty();
        assertThat(KIND.problems(trial("control", false, 5, 50))).isEmpty();
        assertThat(KIND.problems(trial("changelog", false, 5, 50)))
                .singleElement()
                .asString()
                .contains("its rows are not those");
        assertThat(KIND.problems(trial("control", true, 5, 50)))
                .singleElement()
                .asString()
                .contains("the control passes");
        assertThat(KIND.problems(trial("snapshot", true, 4, 50)))
                .singleElement()
                .asString()
                .contains("only 4 batches");
    }

    @ParameterizedTest
    @CsvSource({
        "strict, 50, 50, the commit is written in the batch",
        "strict-staggered, 50, 50, the commit is written in the batch",
        "pipelined, 5, 50, the commit is written in the batch",
        "pipelined-staggered, 5, 50, the commit is written in the batch",
        "pipelined, 50, 5, the offsets are written in the batch",
        "pipelined-staggered, 50, 5, the offsets are written in the batch",
    })
    void oursThatIsPartlyOffIsNoticed(
            String variant, double offsetsMs, double commitMs, String message) {
        assertThat(KIND.problems(trial(variant, true, 5, offsetsMs, commitMs)))
                .singleElement()
                .asString()
                .contains(message);
    }

    /** What the slow file system takes to write is no measure for another one. */
    @Test
    void logWritesAreNotJudgedOnLocalFiles() {
        SparkTrial onSlow = trial("pipelined", true, 5, 50);
        SparkTrial.Setting local =
                new SparkTrial.Setting("pipelined", "lr4", 1000, "local", 0, 2, 1);
        assertThat(
                        KIND.problems(
                                new SparkTrial(
                                        local,
                                        onSlow.outcome(),
                                        onSlow.times(),
                                        onSlow.parts(),
                                        onSlow.snapshots(),
                                        onSlow.cost())))
                .isEmpty();
        assertThat(KIND.problems(onSlow)).hasSize(2);
    }

    @Test
    void aSearchThatFindsNothingIsNoticed() {
        SparkTrial.Setting setting = new SparkTrial.Setting("snapshot", "lr4", 0, "slow", 0, 2, 1);
        SparkTrial none = SparkTrial.none(setting);
        assertThat(KIND.problems(none.found("4.2.0", 1000))).isEmpty();
        assertThat(KIND.problems(none.found("4.2.0", 0))).hasSize(1);
    }
}
