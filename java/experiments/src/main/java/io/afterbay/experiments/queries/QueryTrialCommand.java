package io.afterbay.experiments.queries;

import io.afterbay.bench.Cell;
import io.afterbay.command.Durations;
import io.afterbay.experiments.Experiment;
import io.afterbay.experiments.ExperimentArguments;
import io.afterbay.experiments.TrialCommand;
import io.afterbay.experiments.nexmark.BenchNexmarkCommand;
import io.afterbay.experiments.nexmark.NexmarkCells;
import io.afterbay.workloads.nexmark.Query;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The command of an experiment with NEXMark queries that makes its runs itself. */
abstract class QueryTrialCommand extends TrialCommand<QueryPlan, QueryTrial> {
    private static final NexmarkCells.Size QUICK =
            new NexmarkCells.Size(200_000, "4s", "1s", 1_000);

    @Option(
            names = "--cell",
            paramLabel = "LIST",
            split = ",",
            converter = ExperimentArguments.CellConverter.class,
            description =
                    "memory, 4x-page-cached or 20x-page-cached, with commas: sizes of the state as in"
                            + " bench nexmark. The default depends on the experiment.")
    private List<Cell> cells = List.of();

    @Option(
            names = "--query",
            paramLabel = "LIST",
            split = ",",
            converter = BenchNexmarkCommand.QueryConverter.class,
            description = "Queries, with commas. The default depends on the experiment.")
    private List<Query> queries = List.of();

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description =
                    "How long each run goes before anything counts (default: 30s; quick: 2s).")
    private @Nullable Duration warmUp;

    @Override
    protected void check(CommandLine command) {
        if (cells.stream().anyMatch(Cell::isLimited)) {
            throw new ParameterException(
                    command, "--cell: without a cgroup limit only, use those that are page-cached");
        }
        engine().checkInterval(command);
    }

    /** Those that were given, or the first of these in the short form. */
    final List<Query> queries(Query... usual) {
        if (!queries.isEmpty()) {
            return queries;
        }
        return arguments.quick ? List.of(usual[0]) : List.of(usual);
    }

    final List<Cell> cells(Cell usual) {
        return cells.isEmpty() ? List.of(usual) : cells;
    }

    final long warmUpMs() {
        return arguments.time(warmUp, Duration.ofSeconds(2), Duration.ofSeconds(30)).toMillis();
    }

    /** What a query runs on in a cell; little in the short form. */
    final QueryPlan.JobSize size(CommandLine command, Cell cell, Query query) {
        NexmarkCells.Size size =
                NexmarkCells.size(cell, query)
                        .orElseThrow(
                                () ->
                                        new ParameterException(
                                                command,
                                                "--query %s: its state is too small for --cell %s"
                                                        .formatted(query, cell.jsonName())));
        return sized(cell, query, arguments.quick ? QUICK : size);
    }

    private QueryPlan.JobSize sized(Cell cell, Query query, NexmarkCells.Size size) {
        boolean inMemory = cell == Cell.IN_MEMORY;
        Experiment.SmallMemory small = NexmarkCells.small(cell, query);
        return new QueryPlan.JobSize(
                query.toString(),
                cell,
                size.events(),
                milliseconds(size.window()),
                milliseconds(size.sessionGap()),
                size.activeKeys(),
                inMemory ? memory() : small.total(),
                inMemory ? null : small.state());
    }

    private String memory() {
        return arguments.quick ? "1g" : Experiment.MEMORY;
    }

    private static long milliseconds(String duration) {
        return new Durations().convert(duration).toMillis();
    }
}
