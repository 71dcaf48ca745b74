package io.afterbay.experiments.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.bench.Cell;
import io.afterbay.cli.Command;
import io.afterbay.cli.measure.Phase;
import io.afterbay.command.CommandFailure;
import io.afterbay.experiments.ShortForm;
import io.afterbay.testing.LongForm;
import io.afterbay.workloads.nexmark.Query;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The experiments with NEXMark queries: latency, and parameters of the store. */
class BenchQueriesTest {
    private static final QueryKind KIND =
            new QueryKind("latency", List.of(), trials -> "no page is asked for");

    @TempDir private Path directory;

    private Command run(String... experiment) throws Exception {
        Command command = new Command(directory);
        int code = new ShortForm(directory, experiment).run("--warmup=500ms", "--memory=1g");
        assertThat(code).as(command.err()).isZero();
        assertThat(directory.resolve("results")).doesNotExist();
        assertThat(directory.resolve("work")).isEmptyDirectory();
        return command;
    }

    private static Set<String> rows(Iterable<JsonNode> runs) {
        return StreamSupport.stream(runs.spliterator(), false)
                .map(run -> run.get("rows").asText())
                .collect(Collectors.toSet());
    }

    @Test
    void latenciesAreAtAShareOfTheMaximumRate() throws Exception {
        Command command = run("latency", "--backends=afterbay", "--rates=50", "--open=1s");
        JsonNode runs = command.summary();
        assertThat(runs).hasSize(2);
        JsonNode maximum = runs.get(0);
        assertThat(maximum.get("backend").asText()).isEqualTo("rocksdb-heap-timers");
        assertThat(maximum.get("rate_percent").asInt()).isZero();
        JsonNode open = runs.get(1);
        assertThat(open.get("backend").asText()).isEqualTo("afterbay");
        assertThat(open.get("rate_per_s").asDouble())
                .isCloseTo(maximum.get("events_per_s").asDouble() / 2, within(1.0)); // rounded
        assertThat(open.get("p50_ms").asDouble()).isPositive();
        assertThat(open.get("p999_ms").asDouble())
                .isBetween(open.get("p50_ms").asDouble(), open.get("max_ms").asDouble());
        assertThat(open.get("longest_pause_ms").asDouble()).isPositive();
        assertThat(command.out()).contains("- Aim: at 70 %", "| memory | `q7` | 50 % | `afterbay`");
    }

    @Test
    @LongForm
    void aParameterIsSweptOnTheSameRows() throws Exception {
        Command command = run("sweep", "--parameter=regroup-batch");
        JsonNode runs = command.summary();
        assertThat(runs).hasSize(2);
        assertThat(rows(runs)).hasSize(1);
        for (JsonNode run : runs) {
            assertThat(run.get("backend").asText()).isEqualTo("afterbay");
            assertThat(run.get("parameter").asText()).isEqualTo("regroup-batch");
            assertThat(run.get("events_per_s").asDouble()).isPositive();
            double tasks = run.get("task_cpu_us_per_event").asDouble();
            double background = run.get("background_cpu_us_per_event").asDouble();
            assertThat(tasks).isPositive();
            double store =
                    run.get("store_write_cpu_us_per_event").asDouble()
                            + run.get("store_read_cpu_us_per_event").asDouble();
            assertThat(store).as("sampled").isPositive().isLessThan(tasks);
            assertThat(tasks + background).isLessThan(run.get("cpu_us_per_event").asDouble() * 1.1);
        }
        assertThat(command.out()).contains("| 256k (default) |", "| 4k |");
    }

    @Test
    void everySweptValueIsAnOptionOfTheBackend() {
        for (SweptParameter parameter : SweptParameter.values()) {
            assertThat(parameter.sweep()).contains(parameter.usual()).doesNotHaveDuplicates();
            assertThat(parameter.key()).startsWith("state.backend.afterbay.");
        }
        assertThat(new SweptValue(SweptParameter.REGROUP_BATCH, "64k").settings())
                .containsEntry("state.backend.afterbay.internal.regroup-batch", "64kb");
    }

    private static QueryPlan plan(String backend, int ratePercent, int pair) {
        QueryPlan.JobSize size =
                new QueryPlan.JobSize(
                        "q7", Cell.IN_MEMORY, 1_000_000, 20_000, 1_000, 100, "1g", null);
        return new QueryPlan(backend, pair, size, ratePercent, 0, 0, 1_000, null);
    }

    private static QueryTrial withRows(QueryPlan plan, String rows, Double eventsPerS) {
        return plan.trial()
                .with(
                        rows,
                        new QueryTrial.ClosedLoop(eventsPerS, null, null, null, null, null, null),
                        new QueryTrial.Resources(null, null));
    }

    @Test
    void differentRowsAreNoticed() {
        QueryTrial one = withRows(plan("afterbay", 70, 1), "5 rows, a", null);
        QueryTrial same = withRows(plan("hashmap", 70, 1), "5 rows, a", null);
        QueryTrial other = withRows(plan("rocksdb", 70, 1), "5 rows, b", null);
        assertThat(KIND.problems(List.of(one, same))).isEmpty();
        assertThat(KIND.problems(List.of(one, same, other))).hasSize(1);
        assertThat(KIND.problems(one)).as("no latency").hasSize(1);
    }

    @Test
    void theRateFollowsFromTheRunThatGaveTheMaximum() throws CommandFailure {
        QueryPlan plan = plan("afterbay", 30, 1);
        QueryPlan full = plan("rocksdb-heap-timers", 0, 0);
        QueryTrial maximum = withRows(full, "r", 1000.0);
        assertThat(KIND.ready(plan, List.of(maximum)).ratePerS()).isEqualTo(300);
        assertThat(KIND.ready(full, List.of())).isEqualTo(full);
        assertThatThrownBy(() -> KIND.ready(plan, List.of(maximum.failed("no room"))))
                .isInstanceOf(CommandFailure.class);
        assertThat(KIND.isOf(full, maximum)).isTrue();
        assertThat(KIND.isOf(plan, maximum)).isFalse();
    }

    @Test
    void anOpenLoopIsLongEnoughForWindowsToEnd() {
        QueryPlan slow = plan("afterbay", 30, 1).at(10_000);
        Phase phase = slow.openLoop(slow.target());
        assertThat(phase.countedEvents()).isGreaterThanOrEqualTo(2 * 200_000);
        QueryPlan fast = plan("afterbay", 30, 1).at(1_000_000);
        assertThat(fast.openLoop(fast.target()).countedEvents()).isEqualTo(1_000_000);
        assertThat(slow.size().kind()).isEqualTo(Query.Q7);
    }
}
