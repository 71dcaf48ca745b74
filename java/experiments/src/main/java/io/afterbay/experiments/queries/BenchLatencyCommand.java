package io.afterbay.experiments.queries;

import io.afterbay.bench.Cell;
import io.afterbay.cli.engine.Backend;
import io.afterbay.command.Durations;
import io.afterbay.experiments.TrialKind;
import io.afterbay.workloads.nexmark.Query;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code afterbay bench latency}. */
@Command(
        name = "latency",
        description = {
            "Latency of NEXMark queries at shares of the rate that RocksDB can bear.",
            "",
            "A run of rocksdb-heap-timers as fast as possible gives the maximum rate of a query (one"
                    + " for each query and cell, not compared). Then, share by share, the backends"
                    + " run in turn at that share of it: events come by a schedule, and latencies"
                    + " count from when an event was due. Each run is a process with a warm-up of"
                    + " its own. All backends must give the same rows.",
            "",
            "Runs are appended to bench/results/latency.jsonl round by round. Rounds that are there"
                    + " for this revision, as long and with as much memory, are left out, so the experiment can be stopped and"
                    + " continued. --backends is afterbay,rocksdb-heap-timers,hashmap unless given,"
                    + " without hashmap where state exceeds memory; --cell memory, and --query"
                    + " q7,q11-median,q12.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench latency --quick",
            "  ./afterbay bench latency --query q7 --rates 70 --pairs 3",
            "  ./afterbay bench latency --cell 4x-page-cached --backends afterbay,rocksdb",
            "",
            "Exit codes: 0 done, 1 a run failed, rows differed or none came, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
public final class BenchLatencyCommand extends QueryTrialCommand {
    private static final int PERCENT_MAX = 100;

    @Option(
            names = "--rates",
            paramLabel = "LIST",
            split = ",",
            description =
                    "Shares of the maximum rate in percent, with commas (default: 30,50,70,90;"
                            + " quick: 70).")
    private List<Integer> rates = List.of();

    @Option(
            names = "--open",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "Counted time at a rate, or as long as it takes for two windows to end (default:"
                            + " 60s; quick: 4s).")
    private @Nullable Duration open;

    @Override
    protected void check(CommandLine command) {
        super.check(command);
        if (rates().stream().anyMatch(rate -> rate < 1 || rate > PERCENT_MAX)) {
            throw new ParameterException(command, "--rates: use percents from 1 to 100");
        }
    }

    private List<Integer> rates() {
        if (!rates.isEmpty()) {
            return rates;
        }
        return arguments.quick ? List.of(70) : List.of(30, 50, 70, 90);
    }

    @Override
    protected TrialKind<QueryPlan, QueryTrial> kind(CommandLine command) {
        return new QueryKind(
                "latency", rounds(command), trials -> new LatencyPage(trials).details());
    }

    /** The maximum rate, then pair by pair, share by share. */
    private List<List<QueryPlan>> rounds(CommandLine command) {
        List<List<QueryPlan>> rounds = new ArrayList<>();
        for (Cell cell : cells(Cell.IN_MEMORY)) {
            for (Query query : queries(Query.Q7, Query.Q11_MEDIAN, Query.Q12)) {
                QueryPlan.JobSize size = size(command, cell, query);
                rounds.add(List.of(plan(Backend.ROCKSDB_HEAP_TIMERS, 0, size, 0)));
                for (int pair = 1; pair <= arguments.pairs(); pair++) {
                    for (int rate : rates()) {
                        rounds.add(round(command, pair, size, rate));
                    }
                }
            }
        }
        return rounds;
    }

    private List<QueryPlan> round(
            CommandLine command, int pair, QueryPlan.JobSize size, int ratePercent) {
        return backends(command, size.cell()).stream()
                .map(backend -> plan(backend, pair, size, ratePercent))
                .toList();
    }

    private List<Backend> backends(CommandLine command, Cell cell) {
        if (command.getParseResult().hasMatchedOption("--backends")) {
            return arguments.backends;
        }
        return cell == Cell.IN_MEMORY
                ? List.of(Backend.AFTERBAY, Backend.ROCKSDB_HEAP_TIMERS, Backend.HASHMAP)
                : List.of(Backend.AFTERBAY, Backend.ROCKSDB_HEAP_TIMERS);
    }

    private QueryPlan plan(Backend backend, int pair, QueryPlan.JobSize size, int ratePercent) {
        return new QueryPlan(
                backend.name(),
                pair,
                size,
                ratePercent,
                0,
                warmUpMs(),
                arguments.time(open, Duration.ofSeconds(4), Duration.ofSeconds(60)).toMillis(),
                null);
    }
}
