package io.afterbay.experiments.blobcluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.Command;
import io.afterbay.experiments.RustPrograms;
import io.afterbay.experiments.ShortForm;
import io.afterbay.experiments.bench.Bench;
import io.afterbay.experiments.blob.BlobPrograms;
import io.afterbay.testing.LongForm;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchBlobClusterTest {
    private static final ClusterKind KIND = new ClusterKind(List.of(), RustPrograms.Build.DEV);

    @TempDir private Path directory;

    private String refused(String... more) {
        return new ShortForm(directory, "blob-cluster", "--build=dev").refused(more);
    }

    private int run(Map<String, String> environment, String... more) throws Exception {
        return new ShortForm(directory, "blob-cluster", "--build=dev").run(environment, more);
    }

    /** Nobody notices that a node dies, and without copies everybody does. */
    @Test
    @LongForm
    void theQuickFormLosesNothingAndFindsTheControl() throws Exception {
        Command command = new Command(directory);
        assertThat(run(Map.of())).as(command.err()).isZero();
        Map<String, JsonNode> runs = new HashMap<>();
        for (JsonNode run : command.summary()) {
            runs.put(run.get("operation").asText() + " " + run.get("variant").asText(), run);
        }
        assertThat(runs)
                .containsOnlyKeys("put afterbay", "get afterbay", "kill afterbay", "kill control");
        for (String ours : List.of("put afterbay", "get afterbay", "kill afterbay")) {
            JsonNode run = runs.get(ours);
            assertThat(run.get("failure").isNull()).as(ours).isTrue();
            assertThat(run.get("verified").asLong()).as(ours).isPositive();
            for (String none : List.of("errors", "wrong", "lost")) {
                assertThat(run.get(none).asLong()).as(ours + ": " + none).isZero();
            }
        }
        for (String closed : List.of("put afterbay", "get afterbay")) {
            JsonNode run = runs.get(closed);
            assertThat(run.get("requests_per_s").asDouble()).as(closed).isPositive();
            assertThat(run.get("nodes_cpu_us_per_request").asDouble()).as(closed).isPositive();
            assertThat(run.get("nodes_rss_mib").asDouble()).as(closed).isPositive();
        }
        JsonNode kill = runs.get("kill afterbay");
        // A hundred, less what had ended in the moment before.
        for (String phase : List.of("calm_requests", "away_requests", "back_requests")) {
            assertThat(kill.get(phase).asLong()).as(phase).isGreaterThanOrEqualTo(80);
        }
        assertThat(kill.get("whole").asBoolean()).isTrue();
        assertThat(kill.get("lag").asLong()).isZero();
        assertThat(kill.get("under_replicated_bytes").asLong()).isZero();
        assertThat(kill.get("on_lost_disk_only").asLong()).isZero();
        JsonNode control = runs.get("kill control");
        assertThat(control.get("lost").asLong())
                .isPositive()
                .isEqualTo(control.get("on_lost_disk_only").asLong());
        assertThat(control.get("errors").asLong()).isPositive();
        assertThat(control.get("wrong").asLong()).isZero();
        assertThat(command.out())
                .contains("- Aim: ", "| afterbay |", "right", "lost, as they should be");
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();
    }

    /** The whole of it, with nodes that keep no copies, and with a reader that finds everything. */
    @ParameterizedTest
    @LongForm
    @CsvSource(
            delimiter = '|',
            value = {
                "afterbay | objects were acknowledged and cannot be read",
                "control  | the control passes: a disk with the only copies is lost",
            })
    void copiesDecideTheExitCode(String variant, String problem) throws Exception {
        BlobPrograms.build(RustPrograms.Build.DEV);
        boolean isControl = variant.equals("control");
        Path target = Files.createDirectories(directory.resolve("target/debug"));
        Path server = BlobPrograms.server(RustPrograms.Build.DEV);
        Path load = BlobPrograms.load(RustPrograms.Build.DEV);
        executable(target.resolve("afterbay-blob"), isControl ? as(server) : withoutCopies(server));
        executable(target.resolve("afterbay-blob-bench"), isControl ? findingAll(load) : as(load));
        // What is there is not compiled again.
        executable(directory.resolve("bin/cargo"), "#!/bin/sh\n");
        Map<String, String> environment =
                Map.of(
                        "CARGO_TARGET_DIR",
                        directory.resolve("target").toString(),
                        "PATH",
                        directory.resolve("bin") + File.pathSeparator + System.getenv("PATH"));
        assertThat(run(environment, "--variants=" + variant, "--operations=kill")).isEqualTo(1);
        assertThat(new Command(directory).err()).contains(problem);
    }

    private static String as(Path program) {
        return "#!/bin/sh\nexec '%s' \"$@\"\n".formatted(program);
    }

    /** Stands for the store: one copy of each object, whatever was asked for. */
    private static String withoutCopies(Path program) {
        return """
               #!/bin/sh
               for word; do
                   shift
                   case $word in
                   --replicas=*) word=--replicas=1 ;;
                   --policy=*) word=--policy=one ;;
                   esac
                   set -- "$@" "$word"
               done
               exec '%s' "$@"
               """
                .formatted(program);
    }

    /** Stands for the load: whoever verifies finds all that there should be. */
    private static String findingAll(Path program) {
        return """
               #!/bin/sh
               # "run PROGRAM verify ..." starts this script once more.
               if [ "$1" = verify ]; then
                   echo '{"requests":100,"errors":0,"wrong":0}'
                   exit
               fi
               exec '%s' "$@"
               """
                .formatted(program);
    }

    private static void executable(Path file, String content) throws Exception {
        Files.createDirectories(file.getParent());
        Files.setPosixFilePermissions(
                Files.writeString(file, content), PosixFilePermissions.fromString("rwx------"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--variants=minio | 'minio' is none; use one of afterbay, control",
                "--variants=afterbay,afterbay | --variants: name each of them once",
                "--operations=list | 'list' is none; use one of put, get, kill",
                "--sizes=15 | --sizes 15: use numbers from 16 to",
                "--clients=0 | --clients 0: use numbers from 1 to 256",
                "--kill-size=5m | --kill-size 5242880: use numbers from 16 to 4194304",
                "--rate=0 | --rate 0: use numbers from 1 to",
                "--open=off | --open: use more than 0",
                "--pairs=0 | --pairs 0: use 1 or more",
                "--memory=1g | Unknown option: '--memory=1g'",
            })
    void wrongOptionsAreRefused(String option, String message) {
        assertThat(refused(option.strip())).contains(message.strip());
    }

    @Test
    void aVariantWithNothingToMeasureIsRefused() {
        assertThat(refused("--variants=control", "--operations=put"))
                .contains("none of them has these --operations");
    }

    private static List<List<ClusterPlan>> rounds(String... options) {
        List<String> words = new ArrayList<>(List.of("blob-cluster"));
        words.addAll(List.of(options));
        var parsed = Bench.commandLine().parseArgs(words.toArray(String[]::new));
        CommandLine command = parsed.subcommand().commandSpec().commandLine();
        BenchBlobClusterCommand bench =
                (BenchBlobClusterCommand) command.getCommandSpec().userObject();
        return ((ClusterKind) bench.checked(command)).rounds();
    }

    @Test
    void settingsAreSwept() {
        List<List<ClusterPlan>> all = rounds("--pairs=2");
        // Three sizes by two numbers of clients, for puts and for gets, and one kill.
        assertThat(all).hasSize((2 * 3 * 2 + 1) * 2);
        assertThat(all.stream().flatMap(List::stream))
                .allMatch(plan -> plan.variant() == ClusterVariant.AFTERBAY)
                .filteredOn(plan -> plan.setting().isKill())
                .extracting(plan -> plan.setting().ratePerS(), plan -> plan.setting().phaseMs())
                .containsOnly(tuple(200L, 10_000L));
    }

    @Test
    void anotherVariantBeginsWithEachPair() {
        List<List<ClusterPlan>> all = rounds("--variants=afterbay,control", "--operations=kill");
        assertThat(all).hasSize(5);
        assertThat(all.get(0).get(0).variant()).isEqualTo(ClusterVariant.AFTERBAY);
        assertThat(all.get(1).get(0).variant()).isEqualTo(ClusterVariant.CONTROL);
        assertThat(rounds("--quick").stream().flatMap(List::stream))
                .extracting(plan -> plan.setting().operation() + " " + plan.setting().variant())
                .containsExactlyInAnyOrder(
                        "put afterbay", "get afterbay", "kill afterbay", "kill control");
    }

    private static ClusterTrial kill(String variant, long errors, long lost, ClusterTrial.Kill of) {
        ClusterTrial.Setting setting =
                new ClusterTrial.Setting(variant, "kill", 1000, 16, 100, 1000, 1);
        return ClusterTrial.none(setting)
                .with(new ClusterTrial.Outcome(null, errors, 200L, 0L, lost), of);
    }

    private static ClusterTrial.Kill ended(
            boolean whole, @Nullable Long lag, long underReplicated, long onLostDiskOnly) {
        return new ClusterTrial.Kill(
                100L,
                100L,
                100L,
                1.0,
                2.0,
                3.0,
                4.0,
                5.0,
                6.0,
                1000.0,
                whole,
                lag,
                underReplicated,
                onLostDiskOnly);
    }

    private static final ClusterTrial.Kill WELL = ended(true, 0L, 0, 0);
    private static final ClusterTrial.Kill LOSES = ended(true, 0L, 0, 30);

    @Test
    void whatIsWrongOfAKillIsSaid() {
        assertThat(KIND.problems(kill("afterbay", 0, 0, WELL))).isEmpty();
        assertThat(problem(kill("afterbay", 3, 0, WELL))).isEqualTo("3 requests failed");
        assertThat(problem(kill("afterbay", 0, 2, WELL)))
                .isEqualTo("2 objects were acknowledged and cannot be read");
        assertThat(problem(kill("afterbay", 0, 0, ended(false, 0L, 0, 0))))
                .isEqualTo("the replicas were not whole again within 120 s");
        assertThat(problem(kill("afterbay", 0, 0, ended(true, 7L, 0, 0))))
                .isEqualTo("7 records were not taken over by a replica");
        assertThat(problem(kill("afterbay", 0, 0, ended(true, null, 0, 0))))
                .isEqualTo("a replica has not heard of another one");
        assertThat(problem(kill("afterbay", 0, 0, ended(true, 0L, 9, 0))))
                .isEqualTo("9 bytes are under-replicated");
    }

    /** The control has to lose what only the lost disk had, and nothing else. */
    @Test
    void theControlHasToLose() {
        assertThat(KIND.problems(kill("control", 5, 30, LOSES))).isEmpty();
        assertThat(problem(kill("control", 5, 0, LOSES)))
                .contains("the control passes: a disk with the only copies is lost");
        assertThat(problem(kill("control", 5, 29, LOSES)))
                .contains("has lost 29 objects, and the lost disk had the only copy of 30");
        assertThat(problem(kill("control", 0, 30, LOSES)))
                .contains("the control passes: a node with the only copies is away");
    }

    @Test
    void whatIsWrongOfPutsIsSaid() {
        assertThat(KIND.problems(put(5, 10, 0, 0))).isEmpty();
        assertThat(problem(put(0, 10, 0, 0))).contains("no request was counted");
        assertThat(problem(put(5, 0, 0, 0))).contains("no object was verified");
        assertThat(problem(put(5, 10, 1, 0))).contains("1 objects are not what was put");
        assertThat(problem(put(5, 10, 0, 1))).contains("1 requests failed");
    }

    private static ClusterTrial put(long requests, long verified, long wrong, long errors) {
        ClusterTrial.Setting setting =
                new ClusterTrial.Setting("afterbay", "put", 1000, 4, 0, 0, 1);
        return ClusterTrial.none(setting)
                .with(
                        new ClusterTrial.Outcome(null, errors, verified, wrong, 0L),
                        new ClusterTrial.Rates(requests, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
                        ClusterTrial.Cost.NONE);
    }

    private static String problem(ClusterTrial trial) {
        List<String> problems = KIND.problems(trial);
        assertThat(problems).hasSize(1);
        return problems.get(0);
    }

    @Test
    void statusIsRead() throws Exception {
        String whole = "{\"whole\":true,\"wrong\":[],\"lag\":0,\"under_replicated_bytes\":0}";
        assertThat(ClusterStatus.of(new ObjectMapper().readTree(whole)))
                .isEqualTo(new ClusterStatus(true, 0L, 0, "[]"));
        String unknown = "{\"whole\":false,\"wrong\":[\"x\"],\"lag\":null}";
        assertThat(ClusterStatus.of(new ObjectMapper().readTree(unknown)))
                .as("what is not said is not 0")
                .isEqualTo(new ClusterStatus(false, null, -1, "[\"x\"]"));
    }

    @Test
    void partitionsAreInIds() {
        assertThat(ClusterLoad.partition("12 000000000000000a-4103db13e9e940b0898a2b832722a916"))
                .isEqualTo(10);
    }

    /** Two processes do not share one. */
    @Test
    void addressesAreOfOneProcess() {
        assertThat(ClusterNodes.host(1)).isEqualTo("127.64.0.1");
        assertThat(ClusterNodes.host((1 << 22) - 1)).isEqualTo("127.127.255.255");
    }
}
