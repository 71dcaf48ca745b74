package io.afterbay.experiments.net;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.cli.Command;
import io.afterbay.experiments.RustPrograms;
import io.afterbay.experiments.ShortForm;
import io.afterbay.experiments.bench.Bench;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.Prerequisite;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchNetTest {
    private static final NetKind KIND = new NetKind(List.of(), RustPrograms.Build.DEV, List.of());
    private static final NetPlan.Tools TOOLS = new NetPlan.Tools("load", "redis");

    @TempDir private Path directory;

    private int run(String... more) throws Exception {
        Process process =
                new ProcessBuilder("unshare", "-Urnm", "true").redirectErrorStream(true).start();
        String said =
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        Prerequisite.check(
                process.waitFor() == 0,
                () -> "namespaces of users and networks are forbidden here: " + said);
        return new ShortForm(directory, "net", "--build=dev").run(more);
    }

    private String refused(String... more) {
        return new ShortForm(directory, "net").refused(more);
    }

    private Map<String, JsonNode> runs() throws Exception {
        Map<String, JsonNode> runs = new HashMap<>();
        for (JsonNode run : new Command(directory).summary()) {
            runs.put(run.get("work").asText() + " " + run.get("variant").asText(), run);
        }
        return runs;
    }

    /** What is in memory does not cross the network, and without an agent all of it does. */
    @Test
    void theQuickFormShowsWhatCrossesTheNetwork() throws Exception {
        assertThat(run("--sizes=8k")).as(new Command(directory).err()).isZero();
        Map<String, JsonNode> runs = runs();
        assertThat(runs)
                .containsOnlyKeys(
                        "ping veth",
                        "ping memory",
                        "ping no-agent",
                        "stream veth",
                        "stream memory",
                        "stream no-agent");
        runs.forEach(
                (name, run) -> {
                    double crossed = run.get("network_bytes_per_byte").asDouble();
                    assertThat(run.get("wrong").asLong()).as(name).isZero();
                    assertThat(run.get("operations").asLong()).as(name).isPositive();
                    if (name.endsWith("memory")) {
                        assertThat(crossed).as(name).isLessThanOrEqualTo(0.01);
                    } else {
                        assertThat(crossed).as(name).isGreaterThanOrEqualTo(1);
                    }
                });
        assertThat(new Command(directory).out()).contains("- Aim: ", "| memory |", "| no-agent |");
        assertThat(directory.resolve("results")).doesNotExist();
    }

    @Test
    void withoutAnAgentItEndsWithOne() throws Exception {
        assertThat(run("--agent=off", "--works=ping", "--sizes=8k", "--ways=memory")).isEqualTo(1);
        assertThat(new Command(directory).err())
                .contains("of what was sent crossed the network, and at most 1 % may");
    }

    @Test
    @LongForm
    void everyWayAndWorkRuns() throws Exception {
        assertThat(
                        run(
                                "--works=ping,stream,connect",
                                "--ways=loopback,unix,veth,vxlan,memory,no-agent",
                                "--connections=3",
                                "--busy=0,1"))
                .as(new Command(directory).err())
                .isZero();
        assertThat(runs()).hasSize(3 * 6);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--ways=rdma | 'rdma' is none; use one of loopback, unix, veth",
                "--works=pong | 'pong' is none; use one of ping, stream",
                "--spin=on | 'on' is none; use auto or off",
                "--agent=maybe | 'maybe' is none; use one of on, off",
                "--sizes=7 | --sizes 7: use numbers from 8 to",
                "--sizes=1k,1k | --sizes: name each of them once",
                "--connections=0 | --connections 0: use numbers from 1 to",
                "--busy=65 | --busy 65: use numbers from 0 to",
                "--open=off | --open: use more than 0",
                "--memory=1g | Unknown option: '--memory=1g'",
            })
    void wrongOptionsAreRefused(String option, String message) {
        assertThat(refused(option.strip())).contains(message.strip());
    }

    private static NetKind kind(String... options) {
        List<String> words = new ArrayList<>(List.of("net"));
        words.addAll(List.of(options));
        var parsed = Bench.commandLine().parseArgs(words.toArray(String[]::new));
        CommandLine command = parsed.subcommand().commandSpec().commandLine();
        BenchNetCommand bench = (BenchNetCommand) command.getCommandSpec().userObject();
        bench.checked(command);
        return bench.kind(TOOLS);
    }

    private static List<String> ways(List<NetPlan> round) {
        return round.stream().map(plan -> plan.setting().variant()).toList();
    }

    @Test
    void anotherWayBeginsWithEachPair() {
        NetKind kind =
                kind(
                        "--ways=loopback,unix,veth,vxlan,memory",
                        "--works=ping",
                        "--sizes=64",
                        "--connections=1",
                        "--pairs=2");
        assertThat(kind.rounds()).hasSize(2);
        assertThat(ways(kind.rounds().get(0)))
                .containsExactly("loopback", "unix", "veth", "vxlan", "memory");
        assertThat(ways(kind.rounds().get(1)))
                .containsExactly("unix", "veth", "vxlan", "memory", "loopback");
    }

    @Test
    void eachWorkHasSizesOfItsOwn() {
        NetKind kind = kind("--pairs=1");
        assertThat(kind.rounds()).hasSize(2 * 2 + 2 * 2 + 2 + 1);
        assertThat(ways(kind("--spin=auto,off", "--works=redis", "--pairs=1").rounds().get(0)))
                .as("only rings are waited for in one way or another, and redis knows no map")
                .containsExactly("loopback", "unix", "veth", "vxlan", "memory", "memory");
        assertThat(new NetArguments(() -> false, true).rounds(1, TOOLS).get(0))
                .hasSize(1 + new NetArguments(() -> false, false).rounds(1, TOOLS).get(0).size());
        BenchNetCommand without = new BenchNetCommand();
        assertThat(without.kind(new NetPlan.Tools("load", "")).notRun())
                .singleElement()
                .asString()
                .contains("redis: not run", "rust/net/tests/programs/fetch");
    }

    private static NetTrial trial(
            String way, String work, long operations, long wrong, Double crossed) {
        NetTrial.Setting setting = new NetTrial.Setting(way, work, 64, 1, "auto", 0, 1);
        return NetTrial.none(setting)
                .with(
                        new NetTrial.Outcome(null, wrong, crossed),
                        new NetTrial.Rates(operations, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
                        new NetTrial.Cost(1.0, 1.0, 1.0));
    }

    @Test
    void whatIsWrongIsSaid() {
        assertThat(KIND.problems(trial("memory", "ping", 5, 0, 0.01))).isEmpty();
        assertThat(KIND.problems(trial("veth", "stream", 5, 0, 1.0))).isEmpty();
        assertThat(KIND.problems(trial("unix", "stream", 5, 0, 0.0))).isEmpty();
        assertThat(KIND.problems(trial("memory", "connect", 5, 0, 3.0))).isEmpty();
        assertThat(KIND.problems(trial("memory", "redis", 5, 0, 0.4))).isEmpty();
        assertThat(problem(trial("memory", "stream", 5, 0, 0.02))).contains("2.0 %", "at most 1 %");
        assertThat(problem(trial("memory", "redis", 5, 0, 1.3))).contains("at most 50 %");
        assertThat(problem(trial("no-agent", "ping", 5, 0, 0.99))).contains("all of it should");
        assertThat(problem(trial("veth", "redis", 5, 0, 0.9))).contains("all of it should");
        assertThat(problem(trial("veth", "ping", 5, 2, 1.5))).contains("2 messages, blocks");
        assertThat(problem(trial("veth", "ping", 0, 0, null))).contains("nothing was counted");
    }

    private static String problem(NetTrial trial) {
        List<String> problems = KIND.problems(trial);
        assertThat(problems).hasSize(1);
        return problems.get(0);
    }
}
