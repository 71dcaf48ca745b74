package io.afterbay.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.bench.Cell;
import io.afterbay.bench.Comparison;
import io.afterbay.workloads.nexmark.Query;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code afterbay bench nexmark}: one comparison after the other; each is recorded when it is
 * complete, so that the experiment can be stopped and continued.
 */
@Command(
        name = "nexmark",
        description = {
            "Compare state backends on the NEXMark queries, with state in memory and of four times"
                    + " the memory.",
            "",
            "Each comparison is an 'afterbay compare nexmark', whose runs are appended to"
                    + " bench/results/nexmark.jsonl. Those that are there for this revision are"
                    + " left out, so the experiment can be stopped and continued.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench nexmark --quick",
            "  ./afterbay bench nexmark --cell memory --query q7,q11-median",
            "  ./afterbay bench nexmark --pairs 3 --warmup 10s --latency off",
            "",
            "Exit codes: 0 done, 1 a comparison or a file failed, 2 wrong options, 130 Ctrl-C,",
            "143 SIGTERM."
        })
final class BenchNexmarkCommand implements Callable<Integer> {
    private static final String RESULTS = "bench/results";

    @Option(
            names = "--query",
            paramLabel = "LIST",
            split = ",",
            converter = QueryConverter.class,
            description = "Queries, with commas (default: all eight).")
    private List<Query> queries = List.of(Query.values());

    @Option(
            names = "--cell",
            paramLabel = "LIST",
            split = ",",
            converter = CellConverter.class,
            description =
                    "memory, 4x-page-cached, or 4x-cgroup (needs permission, see compare"
                            + " --cgroup-limit), with commas (default: all three).")
    private List<Cell> cells = List.of(Cell.values());

    @Option(names = "--pairs", paramLabel = "N", description = "As in compare.")
    private @Nullable String pairs;

    @Option(names = "--warmup", paramLabel = "D", description = "As in compare.")
    private @Nullable String warmUp;

    @Option(names = "--latency", paramLabel = "D", description = "As in compare.")
    private @Nullable String latency;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = "Where results are recorded (default: bench/results of the project).")
    private Path results = Installation.home().resolve(RESULTS);

    @Option(
            names = "--quick",
            description =
                    "One short comparison of two backends, in memory, on the first query: proves that"
                            + " the experiment runs; nothing is recorded.")
    private boolean quick;

    @Override
    public Integer call() throws Exception {
        if (quick) {
            return execute(arguments(new NexmarkCell(Cell.IN_MEMORY, queries.get(0))));
        }
        NexmarkRecords records = new NexmarkRecords(results, Versions.revision());
        int code = ExitCode.OK;
        for (NexmarkCell cell : missing(records)) {
            int ended = compare(cell, records);
            if (ended > ExitCode.FAILURE) {
                return ended;
            }
            code = Math.max(code, ended);
        }
        return code;
    }

    private List<NexmarkCell> missing(NexmarkRecords records) throws IOException {
        List<NexmarkCell> missing = new ArrayList<>();
        for (Cell cell : cells) {
            for (Query query : queries) {
                NexmarkCell one = new NexmarkCell(cell, query);
                if (!one.exists()) {
                    say(one, "is left out: its state is too small");
                } else if (records.has(one)) {
                    say(one, "is recorded for revision " + records.revision());
                } else {
                    missing.add(one);
                }
            }
        }
        return missing;
    }

    private static void say(NexmarkCell cell, String what) {
        System.err.printf(
                "bench nexmark: %s in cell %s %s%n", cell.query(), cell.cell().jsonName(), what);
    }

    /** Records also what is no success: failed runs, and outputs that differ. */
    private int compare(NexmarkCell cell, NexmarkRecords records) throws IOException {
        say(cell, "begins");
        Files.createDirectories(results);
        Path json = Files.createTempFile("afterbay-", ".json");
        NexmarkRecords.Start start = start();
        try {
            List<String> all = arguments(cell);
            all.addAll(List.of("--json=" + json, "--page=" + records.page(cell)));
            int code = execute(all);
            if (code <= ExitCode.FAILURE && Files.size(json) > 0) {
                Comparison comparison =
                        new ObjectMapper().readValue(json.toFile(), Comparison.class);
                records.add(cell, comparison, CommandText.of(arguments(cell)), start);
            }
            return code;
        } finally {
            Files.deleteIfExists(json);
        }
    }

    private static NexmarkRecords.Start start() {
        return new NexmarkRecords.Start(
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                ProcessFigures.loadAverage());
    }

    private static int execute(List<String> arguments) {
        return Afterbay.commandLine().execute(arguments.toArray(String[]::new));
    }

    private List<String> arguments(NexmarkCell cell) {
        List<String> arguments = new ArrayList<>(cell.arguments());
        if (pairs != null) {
            arguments.add("--pairs=" + pairs);
        }
        if (warmUp != null) {
            arguments.add("--warmup=" + warmUp);
        }
        if (latency != null) {
            arguments.add("--latency=" + latency);
        }
        if (quick) {
            arguments.addAll(List.of("--quick", "--backends=afterbay,rocksdb-heap-timers"));
        }
        return arguments;
    }

    /** For picocli. */
    static final class QueryConverter implements ITypeConverter<Query> {
        @Override
        public Query convert(String text) {
            return Query.named(text)
                    .orElseThrow(
                            () ->
                                    new TypeConversionException(
                                            "'" + text + "' is none; use of " + Query.names()));
        }
    }

    /** For picocli. */
    static final class CellConverter implements ITypeConverter<Cell> {
        @Override
        public Cell convert(String text) {
            try {
                return Cell.of(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
