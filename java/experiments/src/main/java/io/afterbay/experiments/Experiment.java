package io.afterbay.experiments;

import io.afterbay.bench.Cell;
import io.afterbay.cli.compare.Compare;
import io.afterbay.cli.compare.CompareOptions;
import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.engine.EngineOptions;
import io.afterbay.cli.process.ProcessFigures;
import io.afterbay.cli.process.Versions;
import io.afterbay.command.ByteSize;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandText;
import io.afterbay.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * One comparison after the other; each is recorded when it is complete, so that an experiment can
 * be stopped and continued.
 */
public final class Experiment {
    public static final String MEMORY = "2g";

    private final ExperimentArguments arguments;
    private final CompareOptions options;
    private final CommandLine command;
    private final ExperimentRecords records;

    /**
     * @param name of the file of its results
     * @param options of every comparison
     * @param command whose usage errors wrong options are
     */
    public Experiment(
            String name,
            ExperimentArguments arguments,
            CompareOptions options,
            CommandLine command) {
        this.arguments = arguments;
        this.options = options;
        this.command = command;
        this.records = new ExperimentRecords(name, arguments.results, Versions.revision());
    }

    /** How much memory comparisons of a cell have, as it is typed. */
    public static List<String> memory(Cell cell, SmallMemory small) {
        if (cell == Cell.IN_MEMORY) {
            return List.of("--memory=" + MEMORY);
        }
        List<String> words =
                new ArrayList<>(
                        List.of("--memory=" + small.total, "--state-memory=" + small.state));
        if (cell.isLimited()) {
            words.add("--cgroup-limit=" + small.limit);
        }
        return words;
    }

    /** The engine with that memory; {@code small} where state exceeds it. */
    public static EngineOptions engine(Cell cell, SmallMemory small) {
        EngineOptions usual = new EngineArguments().options();
        return cell == Cell.IN_MEMORY
                ? usual.orMemory(ByteSize.parse(MEMORY), null)
                : usual.orMemory(ByteSize.parse(small.total), ByteSize.parse(small.state));
    }

    /** Of the memory cgroup, or null. */
    public static @Nullable ByteSize limit(Cell cell, SmallMemory small) {
        return cell.isLimited() ? ByteSize.parse(small.limit) : null;
    }

    /**
     * The least memory that a worker starts with, of which so much is for state. RocksDB takes up
     * to 100 MiB more than it is given, and is killed under a tighter limit; 32 MiB more are for
     * the samplers of {@link io.afterbay.cli.profile.StoreProfile}.
     *
     * <p>Millions of timers on the heap, as RocksDB has them in its faster form, need 880 MiB more;
     * two and a half times as many need so much more.
     */
    public enum SmallMemory {
        MIB_64("416m", "64m", "544m"),
        MIB_16("384m", "16m", "512m"),
        MIB_8("384m", "8m", "512m"),
        MIB_16_AND_HEAP("1248m", "16m", "1376m"),
        MIB_8_AND_HEAP("2560m", "8m", "2688m"),
        MIB_64_AND_HEAP("1296m", "64m", "1424m");

        private final String total;
        private final String state;
        private final String limit;

        SmallMemory(String total, String state, String limit) {
            this.total = total;
            this.state = state;
            this.limit = limit;
        }

        public String total() {
            return total;
        }

        public String state() {
            return state;
        }
    }

    /**
     * Runs what is not recorded for this revision.
     *
     * @param cellOf what to compare for a query in a cell, nothing if there is no such state
     * @return exit code
     */
    public <Q> int run(List<Q> queries, BiFunction<Cell, Q, Optional<ExperimentCell>> cellOf)
            throws Exception {
        if (arguments.quick) {
            ExperimentCell first = cellOf.apply(Cell.IN_MEMORY, queries.get(0)).orElseThrow();
            return compare(first, null, typed(first)).exitCode();
        }
        int code = ExitCode.OK;
        for (ExperimentCell cell : missing(queries, cellOf)) {
            int ended = recorded(cell);
            if (ended > ExitCode.FAILURE) {
                return ended;
            }
            code = Math.max(code, ended);
        }
        return code;
    }

    private <Q> List<ExperimentCell> missing(
            List<Q> queries, BiFunction<Cell, Q, Optional<ExperimentCell>> cellOf)
            throws IOException {
        List<ExperimentCell> missing = new ArrayList<>();
        for (Cell cell : arguments.cells) {
            for (Q query : queries) {
                Optional<ExperimentCell> one = cellOf.apply(cell, query);
                if (one.isEmpty()) {
                    say(query, cell, "is left out: its state is too small");
                } else if (records.has(one.get())) {
                    say(query, cell, "is recorded for revision " + records.revision());
                } else {
                    missing.add(one.get());
                }
            }
        }
        return missing;
    }

    private void say(Object query, Cell cell, String what) {
        System.err.printf(
                "bench %s: %s in cell %s %s%n", records.experiment(), query, cell.jsonName(), what);
    }

    /** Records also what is no success: failed runs, and outputs that differ. */
    private int recorded(ExperimentCell cell) throws IOException, InterruptedException {
        say(cell.query(), cell.cell(), "begins");
        Files.createDirectories(arguments.results);
        ExperimentRecords.Start start =
                new ExperimentRecords.Start(
                        Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                        ProcessFigures.loadAverage());
        String typed = typed(cell);
        try {
            Compare.Result result = compare(cell, records.page(cell), typed);
            if (result.exitCode() <= ExitCode.FAILURE) {
                records.add(cell, result.comparison(), typed, start);
            }
            return result.exitCode();
        } catch (CommandFailure e) {
            say(cell.query(), cell.cell(), "failed: " + CommandFailure.reason(e));
            return ExitCode.FAILURE;
        }
    }

    private Compare.Result compare(ExperimentCell cell, @Nullable Path page, String typed)
            throws CommandFailure, IOException, InterruptedException {
        return new Compare(options.within(cell.limit(), page), cell.engine(), command)
                .run(cell.target(), new Compare.Names(cell.title(), typed));
    }

    private String typed(ExperimentCell cell) {
        List<String> words = new ArrayList<>(cell.arguments());
        words.addAll(arguments.typed(command));
        return CommandText.of(words);
    }
}
