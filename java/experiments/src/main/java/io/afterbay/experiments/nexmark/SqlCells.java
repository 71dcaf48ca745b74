package io.afterbay.experiments.nexmark;

import io.afterbay.bench.Cell;
import io.afterbay.cli.measure.ComparedRules;
import io.afterbay.cli.measure.SqlTarget;
import io.afterbay.command.CommandText;
import io.afterbay.command.Installation;
import io.afterbay.experiments.Experiment;
import io.afterbay.experiments.Experiment.SmallMemory;
import io.afterbay.experiments.ExperimentCell;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The SQL scripts in the cells of the experiment. In memory: those of {@code examples/nexmark-sql}.
 * For state of four times the memory there are variants with more keys in {@code bench/sql-4x}, of
 * those queries that keep a row for each key; the others aggregate too much to get there. For
 * twenty times the memory, {@code bench/sql-20x} has two of them with more keys still.
 */
final class SqlCells {
    static final List<String> SCRIPTS =
            List.of(
                    "q5",
                    "q7",
                    "q7-session",
                    "q8",
                    "q11",
                    "q12",
                    "deduplication",
                    "interval-join",
                    "top-n",
                    "window-top-n");

    /** Those with a row for each key. */
    private static final List<String> LARGE_SCRIPTS = List.of("q11", "q12", "deduplication");

    /** Sessions in so little memory do not end, see {@link #small}. */
    private static final List<String> LARGEST_SCRIPTS = List.of("q12", "deduplication");

    private static final String SMALL = "examples/nexmark-sql";
    private static final String LARGE = "bench/sql-4x";
    private static final String LARGEST = "bench/sql-20x";

    /**
     * Instead of the scripts' own 2 million: runs should take longer than a checkpoint interval.
     */
    private static final long SMALL_EVENTS = 6_000_000;

    private static final long LARGE_EVENTS = 2_650_000;

    /** As many sessions as exceed four times 64 MiB. */
    private static final long LARGE_SESSION_EVENTS = 3_200_000;

    /** With two and a half times the keys, and in half of the memory, twenty times that. */
    private static final long LARGEST_EVENTS = 6_625_000;

    private static final String EVENTS = "nexmark.events";

    private SqlCells() {}

    /**
     * Nothing if the script cannot have state of that size.
     *
     * @param name file name without {@code .sql}
     */
    static Optional<ExperimentCell> of(Cell cell, String name) {
        if (!exists(cell, name)) {
            return Optional.empty();
        }
        String script =
                fromHere(Installation.home().resolve(directory(cell)).resolve(name + ".sql"));
        SmallMemory small = small(cell, name);
        long events = events(cell, name);
        List<String> typed = new ArrayList<>(List.of("compare", "sql", script));
        typed.addAll(Experiment.memory(cell, small));
        typed.add("-D" + EVENTS + "=" + events);
        return Optional.of(
                new ExperimentCell(
                        cell,
                        name + ".sql",
                        events,
                        new SqlTarget(script, 0, new ComparedRules(0, false)),
                        CommandText.quoted(Stream.of(script)),
                        Experiment.engine(cell, small)
                                .withProperties(Map.of(EVENTS, Long.toString(events))),
                        Experiment.limit(cell, small),
                        typed));
    }

    private static String directory(Cell cell) {
        if (cell == Cell.IN_MEMORY) {
            return SMALL;
        }
        return cell.isLarge() ? LARGEST : LARGE;
    }

    private static boolean exists(Cell cell, String name) {
        return cell == Cell.IN_MEMORY
                || (cell.isLarge() ? LARGEST_SCRIPTS : LARGE_SCRIPTS).contains(name);
    }

    private static long events(Cell cell, String name) {
        if (cell == Cell.IN_MEMORY) {
            return SMALL_EVENTS;
        }
        if (cell.isLarge()) {
            return LARGEST_EVENTS;
        }
        return name.equals("q11") ? LARGE_SESSION_EVENTS : LARGE_EVENTS;
    }

    /**
     * A session has a map, a value and a timer. In 16 MiB RocksDB writes tens of thousands of files
     * for them, and had not ended after 20 minutes.
     */
    private static SmallMemory small(Cell cell, String name) {
        if (cell.isLarge()) {
            return SmallMemory.MIB_8;
        }
        return name.equals("q11") ? SmallMemory.MIB_64_AND_HEAP : SmallMemory.MIB_16;
    }

    private static String fromHere(Path file) {
        return Path.of("").toAbsolutePath().relativize(file.toAbsolutePath()).toString();
    }
}
