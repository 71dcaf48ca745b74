package io.afterbay.experiments.queries;

import io.afterbay.bench.Cell;
import io.afterbay.cli.engine.Backend;
import io.afterbay.experiments.TrialKind;
import io.afterbay.workloads.nexmark.Query;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code afterbay bench sweep}. */
@Command(
        name = "sweep",
        description = {
            "What parameters of the store do to throughput, CPU time, written bytes and disk"
                    + " space.",
            "",
            "Afterbay runs a NEXMark query as fast as possible with one parameter at each of its"
                    + " values in turn, the others as they are by default: max-space-amplification"
                    + " (bytes in files per byte that is needed, above which files are compacted);"
                    + " regroup-batch (when windows fire, their log is gathered by key in memory if"
                    + " it has at most 16 times so many bytes, and else brought into the order of"
                    + " keys so many bytes at a time); hot-tier-part (the memory divided by that"
                    + " keeps what was used lately); read-ahead-timers (of how many timers the"
                    + " lists are read together); read-threads (that read them). Each run is a"
                    + " process with a warm-up of"
                    + " its own. All must give the same rows. --backends is refused: the parameters"
                    + " are those of afterbay.",
            "",
            "Runs are appended to bench/results/sweep.jsonl round by round. Rounds that are there"
                    + " for this revision, as long and with as much memory, are left out, so the experiment can be stopped and"
                    + " continued. Without --query, parameters are tried on those queries that they"
                    + " matter for, in --cell 4x-page-cached.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench sweep --quick",
            "  ./afterbay bench sweep --parameter max-space-amplification --pairs 3",
            "  ./afterbay bench sweep --parameter hot-tier-part --query q11-median",
            "  ./afterbay bench sweep --parameter read-ahead-timers --cell 20x-page-cached",
            "",
            "Exit codes: 0 done, 1 a run failed or rows differed, 2 wrong options, 130 Ctrl-C,",
            "143 SIGTERM."
        })
public final class BenchSweepCommand extends QueryTrialCommand {
    @Option(
            names = "--parameter",
            paramLabel = "LIST",
            split = ",",
            converter = SweptParameter.Converter.class,
            description =
                    "max-space-amplification, regroup-batch, hot-tier-part, read-ahead-timers,"
                            + " read-threads, with commas (default: all).")
    private List<SweptParameter> parameters = List.of(SweptParameter.values());

    @Override
    protected void check(CommandLine command) {
        super.check(command);
        if (command.getParseResult().hasMatchedOption("--backends")) {
            throw new ParameterException(
                    command, "--backends: the parameters are those of afterbay");
        }
    }

    @Override
    protected TrialKind<QueryPlan, QueryTrial> kind(CommandLine command) {
        return new QueryKind("sweep", rounds(command), trials -> new SweepPage(trials).details());
    }

    /** One round for each pair of a parameter and query: all values of it. */
    private List<List<QueryPlan>> rounds(CommandLine command) {
        List<List<QueryPlan>> rounds = new ArrayList<>();
        for (Cell cell : cells(Cell.PAGE_CACHED)) {
            for (SweptParameter parameter : parameters) {
                for (Query query : queries(usual(parameter))) {
                    QueryPlan.JobSize size = size(command, cell, query);
                    for (int pair = 1; pair <= arguments.pairs(); pair++) {
                        rounds.add(round(size, parameter, pair));
                    }
                }
            }
        }
        return rounds;
    }

    private static Query[] usual(SweptParameter parameter) {
        return switch (parameter) {
            case SPACE_AMPLIFICATION -> new Query[] {Query.Q12, Query.Q11_MEDIAN};
            case REGROUP_BATCH -> new Query[] {Query.Q7};
            case HOT_TIER_PART -> new Query[] {Query.Q11_MEDIAN, Query.Q12};
            case READ_AHEAD_TIMERS, READ_THREADS -> new Query[] {Query.Q11_MEDIAN};
        };
    }

    private List<QueryPlan> round(QueryPlan.JobSize size, SweptParameter parameter, int pair) {
        return values(parameter).stream()
                .map(value -> plan(size, new SweptValue(parameter, value), pair))
                .toList();
    }

    /** In the short form, the usual one and that which is furthest from it. */
    private List<String> values(SweptParameter parameter) {
        return arguments.quick
                ? List.of(parameter.usual(), parameter.sweep().get(0))
                : parameter.sweep();
    }

    private QueryPlan plan(QueryPlan.JobSize size, SweptValue value, int pair) {
        return new QueryPlan(Backend.AFTERBAY.name(), pair, size, 0, 0, warmUpMs(), 0, value);
    }
}
