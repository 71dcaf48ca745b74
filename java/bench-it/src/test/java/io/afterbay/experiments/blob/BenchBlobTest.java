package io.afterbay.experiments.blob;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.Command;
import io.afterbay.experiments.RustPrograms;
import io.afterbay.experiments.ShortForm;
import io.afterbay.experiments.bench.Bench;
import io.afterbay.testing.LongForm;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchBlobTest {
    private static final BlobKind KIND = new BlobKind(List.of(), RustPrograms.Build.DEV, List.of());
    private static final BlobPlan.Tools TOOLS = new BlobPlan.Tools("load", "server", "minio");
    private static final BlobPlan.Tools WITHOUT_MINIO = new BlobPlan.Tools("load", "server", "");

    @TempDir private Path directory;

    private String refused(String... more) {
        return new ShortForm(directory, "blob", "--build=dev").refused(more);
    }

    private int run(String... more) throws Exception {
        return run(Map.of(), more);
    }

    private int run(Map<String, String> environment, String... more) throws Exception {
        return new ShortForm(directory, "blob", "--build=dev").run(environment, more);
    }

    /** Bytes are right, the control's are not, and all that can be measured is. */
    @Test
    @LongForm
    void theQuickFormMeasuresServersAndLimitsAndFindsTheControl() throws Exception {
        Command command = new Command(directory);
        assertThat(run()).as(command.err()).isZero();
        Map<String, JsonNode> runs = new HashMap<>();
        command.summary()
                .forEach(
                        run ->
                                runs.put(
                                        run.get("operation").asText()
                                                + " "
                                                + run.get("variant").asText(),
                                        run));
        assertThat(runs)
                .containsOnlyKeys(
                        "put afterbay-native",
                        "put afterbay-s3",
                        "put bare",
                        "put disk",
                        "get afterbay-native",
                        "get afterbay-s3",
                        "get bare",
                        "get loopback",
                        "get control",
                        "get control-s3");
        assertThat(runs.get("get control").get("wrong").asLong()).isEqualTo(1);
        assertThat(runs.get("get control-s3").get("wrong").asLong()).isEqualTo(1);
        for (String ours :
                List.of(
                        "put afterbay-native",
                        "get afterbay-native",
                        "put afterbay-s3",
                        "get bare")) {
            JsonNode run = runs.get(ours);
            assertThat(run.get("verified").asLong() > 0).isEqualTo(!ours.equals("put bare"));
            assertThat(run.get("wrong").asLong()).isZero();
            assertThat(run.get("errors").asLong()).isZero();
            assertThat(run.get("requests_per_s").asDouble()).isPositive();
            assertThat(run.get("p99_ms").asDouble()).isPositive();
            assertThat(run.get("server_cpu_seconds_per_gb").asDouble()).isPositive();
            assertThat(run.get("rss_mib").asDouble()).isPositive();
            assertThat(run.get("failure").isNull()).isTrue();
        }
        assertThat(runs.get("get loopback").get("mb_per_s").asDouble()).isPositive();
        assertThat(runs.get("put disk").get("written_bytes_per_request").isNull()).isTrue();
        assertThat(command.out())
                .contains("- Aim: ", "| afterbay-native |", "wrong, as they should be");
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    /** The whole of it, with a load whose puts are other ones than they should be. */
    @ParameterizedTest
    @LongForm
    @CsvSource(
            delimiter = '|',
            value = {
                "afterbay-native | true  | 1 objects are not what was put",
                "afterbay-s3     | true  | 1 objects are not what was put",
                "control         | false | the control passes",
                "control-s3      | false | the control passes",
            })
    void oneByteDecidesTheExitCode(String variant, boolean differs, String problem)
            throws Exception {
        BlobPrograms.build(RustPrograms.Build.DEV);
        BlobPlan.Tools real = BlobPrograms.tools(RustPrograms.Build.DEV);
        Path target = Files.createDirectories(directory.resolve("target/debug"));
        Files.createSymbolicLink(target.resolve("afterbay-blob"), Path.of(real.server()));
        executable(target.resolve("afterbay-blob-bench"), load(real.load(), differs));
        // What is there is not compiled again.
        executable(directory.resolve("bin/cargo"), "#!/bin/sh\n");
        Map<String, String> environment =
                Map.of(
                        "CARGO_TARGET_DIR",
                        directory.resolve("target").toString(),
                        "PATH",
                        directory.resolve("bin") + File.pathSeparator + System.getenv("PATH"));
        assertThat(run(environment, "--variants=" + variant, "--operations=get")).isEqualTo(1);
        assertThat(new Command(directory).err()).contains(problem);
    }

    /**
     * Stands for the program of the load: one byte of its puts differs, or none, whatever was asked
     * for.
     */
    private static String load(String real, boolean differs) {
        return """
               #!/bin/sh
               # "run PROGRAM load ..." starts this script once more.
               case "$*" in
               "load "*--operation=put*)
                   for word; do
                       shift
                       case $word in --differs=*) ;; *) set -- "$@" "$word" ;; esac
                   done
                   set -- "$@" %s
                   ;;
               esac
               exec '%s' "$@"
               """
                .formatted(differs ? "--differs=0" : "", real);
    }

    private static void executable(Path file, String content) throws Exception {
        Files.createDirectories(file.getParent());
        Files.setPosixFilePermissions(
                Files.writeString(file, content), PosixFilePermissions.fromString("rwx------"));
    }

    /** Without a server. */
    @Test
    @LongForm
    void theIndexIsMeasuredByItself() throws Exception {
        Command command = new Command(directory);
        assertThat(run("--index=20000")).as(command.err()).isZero();
        JsonNode index = command.summary().get(0);
        assertThat(index.get("index_memory_bytes_per_blob").asDouble()).isPositive();
        assertThat(index.get("reads_of_log").asDouble()).isGreaterThanOrEqualTo(1);
        assertThat(index.get("wrong").asLong()).isZero();
        assertThat(index.get("verified").asLong()).isPositive();
        assertThat(command.out()).contains("| 20,000 blobs |");
    }

    @Test
    void variantsWithNothingToMeasureAreRefused() {
        assertThat(refused("--variants=bare", "--operations=get", "--cache=cold"))
                .contains("none of them has these");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--variants=magic | 'magic' is none; use one of afterbay-native, afterbay-s3, minio",
                "--variants=index | --variants index: use --index instead",
                "--operations=list | 'list' is none; use one of put, get",
                "--cache=warm | 'warm' is none; use one of cached, cold",
                "--sizes=15 | --sizes 15: use numbers from 16 to",
                "--sizes=1m,1m | --sizes: name each of them once",
                "--clients=0 | --clients 0: use numbers from 1 to 256",
                "--index=0 | --index 0: use numbers from 1 to",
                "--open=off | --open: use more than 0",
                "--pairs=0 | --pairs 0: use 1 or more",
                "--memory=1g | --memory: there is no engine in this",
                "--case=x | only with --s3-tests",
            })
    void wrongOptionsAreRefused(String option, String message) {
        assertThat(refused(option.strip())).contains(message.strip());
    }

    private static BlobKind kind(String... options) {
        List<String> words = new ArrayList<>(List.of("blob"));
        words.addAll(List.of(options));
        var parsed = Bench.commandLine().parseArgs(words.toArray(String[]::new));
        CommandLine command = parsed.subcommand().commandSpec().commandLine();
        BenchBlobCommand bench = (BenchBlobCommand) command.getCommandSpec().userObject();
        bench.checked(command);
        return bench.kind(TOOLS);
    }

    private static List<BlobPlan> plans(BlobKind kind) {
        return kind.rounds().stream().flatMap(List::stream).toList();
    }

    @Test
    void anotherVariantBeginsWithEachPair() {
        BlobKind kind =
                kind(
                        "--operations=get",
                        "--sizes=1m",
                        "--clients=2",
                        "--cache=cached",
                        "--pairs=2");
        assertThat(kind.rounds()).hasSize(2);
        assertThat(kind.rounds().get(0))
                .extracting(plan -> plan.setting().variant())
                .containsExactly("afterbay-native", "afterbay-s3", "minio", "bare", "loopback");
        assertThat(kind.rounds().get(1))
                .extracting(plan -> plan.setting().variant())
                .containsExactly("afterbay-s3", "minio", "bare", "loopback", "afterbay-native");
    }

    @Test
    void settingsAreSwept() {
        BlobKind kind =
                kind("--sizes=25k,1m", "--clients=1,20", "--cache=cached,cold", "--pairs=1");
        assertThat(kind.rounds()).hasSize((1 + 2) * 2 * 2);
        assertThat(plans(kind))
                .filteredOn(BlobPlan::isCold)
                .extracting(plan -> plan.setting().variant())
                .containsOnly("afterbay-native", "afterbay-s3", "minio", "disk-read");
        assertThat(plans(kind))
                .filteredOn(BlobPlan::isPut)
                .allSatisfy(plan -> assertThat(plan.setting().objects()).isZero())
                .extracting(plan -> plan.setting().variant())
                .contains("disk")
                .doesNotContain("loopback", "disk-read", "control");
        assertThat(kind("--index=5,6", "--pairs=3").rounds()).hasSize(6);
    }

    @Test
    void aPeerThatIsNotInstalledIsSaid() {
        BlobArguments arguments = new BlobArguments(() -> false);
        assertThat(arguments.notRun(TOOLS)).isEmpty();
        assertThat(arguments.notRun(WITHOUT_MINIO))
                .singleElement()
                .asString()
                .contains("minio: not run", "bench/install-minio.sh");
        assertThat(arguments.rounds(1, WITHOUT_MINIO).stream().flatMap(List::stream))
                .noneMatch(plan -> plan.variant() == BlobVariant.MINIO);
        assertThat(new BlobArguments(() -> true).notRun(WITHOUT_MINIO)).isEmpty();
    }

    @Test
    void theOtherRunnerGetsItsOptions() {
        S3Tests tests = new S3Tests(Path.of("dir"), "acl", Path.of("out"));
        assertThat(tests.command(Path.of("script")))
                .containsExactly("script", "--s3-tests", "dir", "--case", "acl", "--report", "out");
        assertThat(new S3Tests(Path.of("dir"), null, null).command(Path.of("script"))).hasSize(3);
    }

    /** Else pytest would run all cases there are. */
    @Test
    @LongForm
    void aCaseThatThereIsNotIsWrongUsage() throws Exception {
        assertThat(run("--s3-tests=" + directory, "--case=no-such-case")).isEqualTo(2);
        assertThat(new Command(directory).err())
                .contains("--case no-such-case: no case of", "core.txt");
    }

    private static BlobTrial trial(
            String variant, long verified, long wrong, long errors, long requests) {
        BlobTrial.Setting setting = new BlobTrial.Setting(variant, "get", 1000, 1, "cached", 10, 1);
        return BlobTrial.none(setting)
                .with(
                        new BlobTrial.Outcome(null, verified, wrong, errors, null),
                        new BlobTrial.Rates(requests, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
                        BlobTrial.Cost.NONE);
    }

    @Test
    void whatIsWrongIsSaid() {
        assertThat(KIND.problems(trial("afterbay-s3", 10, 0, 0, 5))).isEmpty();
        assertThat(KIND.problems(trial("loopback", 0, 0, 0, 5))).isEmpty();
        assertThat(KIND.problems(trial("control", 10, 1, 0, 0))).isEmpty();
        assertThat(KIND.problems(trial("control-s3", 10, 1, 0, 0))).isEmpty();
        assertThat(problem(trial("control", 10, 0, 0, 0))).contains("the control passes");
        assertThat(problem(trial("control-s3", 10, 0, 0, 0))).contains("the control passes");
        assertThat(problem(trial("afterbay-native", 10, 1, 0, 5))).contains("1 objects are not");
        assertThat(problem(trial("minio", 10, 0, 2, 5))).contains("2 requests failed");
        assertThat(problem(trial("afterbay-s3", 0, 0, 0, 5))).contains("no object was verified");
        assertThat(problem(trial("bare", 0, 0, 0, 0))).contains("no request was counted");
    }

    private static String problem(BlobTrial trial) {
        List<String> problems = KIND.problems(trial);
        assertThat(problems).hasSize(1);
        return problems.get(0);
    }

    /** A run that says it is cold has to be. */
    @Test
    void whatStayedInMemoryIsNotCold() {
        BlobTrial.Setting setting = new BlobTrial.Setting("minio", "get", 1000, 1, "cold", 10, 1);
        for (double cached : new double[] {0, 5, 6, 100}) {
            BlobTrial trial =
                    BlobTrial.none(setting)
                            .with(
                                    new BlobTrial.Outcome(null, 10L, 0L, 0L, cached),
                                    new BlobTrial.Rates(5L, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
                                    BlobTrial.Cost.NONE);
            assertThat(KIND.problems(trial)).hasSize(cached > 5 ? 1 : 0);
        }
    }
}
