package io.afterbay.experiments.nexmark;

import io.afterbay.bench.Cell;
import io.afterbay.cli.measure.NexmarkTarget;
import io.afterbay.command.Durations;
import io.afterbay.experiments.Experiment;
import io.afterbay.experiments.Experiment.SmallMemory;
import io.afterbay.experiments.ExperimentCell;
import io.afterbay.workloads.nexmark.Generator;
import io.afterbay.workloads.nexmark.NexmarkOptions;
import io.afterbay.workloads.nexmark.Query;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The queries in the cells of the experiment: with which options their state has the size of a
 * cell.
 *
 * <p>In memory: windows of 200 s and 20,000 active bidders, so that append queries hold two million
 * bids at a time. To exceed memory, the budget is small rather than the state large, so that runs
 * take minutes. Append queries keep all bids of a window (82 bytes each in a checkpoint), and get
 * 64 MiB for state. The others keep a count per key (35 to 50 bytes) and take millions of keys;
 * RocksDB needs ten minutes to count enough of them for 64 MiB, so there it is 16. Those with a
 * timer per key get a heap for RocksDB's, but not under a cgroup limit, where a store without
 * timers on the heap would use it as page cache. Q8 keeps less than a byte per event, and is left
 * out.
 *
 * <p>For twenty times the memory, the budget is smaller and the state larger: append queries have a
 * quarter of the memory (16 MiB) for a little more state, the others half of it (8 MiB) for two and
 * a half times the state.
 */
public final class NexmarkCells {
    private static final long SEED = 1;
    private static final long INTER_EVENT_MICROS = 100;

    private NexmarkCells() {}

    /** Windows and gaps are durations of event time. */
    public record Size(long events, String window, String sessionGap, long activeKeys) {
        private NexmarkOptions of(Query query) {
            Durations durations = new Durations();
            return new NexmarkOptions(
                    query,
                    events,
                    new Generator(SEED, INTER_EVENT_MICROS, activeKeys),
                    new NexmarkOptions.Windows(
                            durations.convert(window).toMillis(),
                            durations.convert(sessionGap).toMillis()),
                    0,
                    null,
                    "nexmark");
        }

        private List<String> options() {
            return List.of(
                    "--events=" + events,
                    "--window=" + window,
                    "--session-gap=" + sessionGap,
                    "--active-keys=" + activeKeys);
        }
    }

    /** Nothing if the query cannot have state of that size. */
    static Optional<ExperimentCell> of(Cell cell, Query query) {
        return size(cell, query).map(size -> cell(cell, query, size));
    }

    private static ExperimentCell cell(Cell cell, Query query, Size size) {
        List<String> arguments = new ArrayList<>(List.of("compare", "nexmark", "--query=" + query));
        arguments.addAll(size.options());
        List<String> job = arguments.subList(1, arguments.size());
        String title = String.join(" ", job).replace('=', ' ');
        SmallMemory small = small(cell, query);
        List<String> typed = new ArrayList<>(arguments);
        typed.addAll(Experiment.memory(cell, small));
        return new ExperimentCell(
                cell,
                query.toString(),
                size.events,
                new NexmarkTarget(size.of(query)),
                title,
                Experiment.engine(cell, small),
                Experiment.limit(cell, small),
                typed);
    }

    /** Nothing if the query cannot have state of that size. */
    public static Optional<Size> size(Cell cell, Query query) {
        if (cell == Cell.IN_MEMORY) {
            return Optional.of(inMemory(query));
        }
        return Optional.ofNullable(cell.isLarge() ? twentyTimes(query) : fourTimes(query));
    }

    /**
     * So many events that the faster backends take at least 15 s for them: checkpoints are 10 s
     * apart, and a run should not depend on whether it meets one.
     */
    private static Size inMemory(Query query) {
        long events =
                switch (query) {
                    case Q5, Q5_APPEND, Q7 -> 16_000_000;
                    case Q7_SESSION, Q11, Q11_MEDIAN -> 8_000_000;
                    case Q8 -> 64_000_000;
                    case Q12 -> 32_000_000;
                };
        return new Size(events, "200s", "30s", 20_000);
    }

    /** How much memory there is for it in a cell in which state exceeds that. */
    public static SmallMemory small(Cell cell, Query query) {
        return cell.isLarge() ? twentieth(cell, query) : quarter(cell, query);
    }

    private static SmallMemory quarter(Cell cell, Query query) {
        return switch (query) {
            case Q7, Q7_SESSION, Q11_MEDIAN -> SmallMemory.MIB_64;
            case Q8, Q12 -> SmallMemory.MIB_16;
            case Q5, Q5_APPEND, Q11 ->
                    cell.isLimited() ? SmallMemory.MIB_16 : SmallMemory.MIB_16_AND_HEAP;
        };
    }

    private static SmallMemory twentieth(Cell cell, Query query) {
        return switch (query) {
            case Q7, Q7_SESSION, Q11_MEDIAN -> SmallMemory.MIB_16;
            case Q8, Q12 -> SmallMemory.MIB_8;
            case Q5, Q5_APPEND, Q11 ->
                    cell.isLimited() ? SmallMemory.MIB_8 : SmallMemory.MIB_8_AND_HEAP;
        };
    }

    private static @Nullable Size fourTimes(Query query) {
        return switch (query) {
            case Q5, Q5_APPEND -> new Size(1_650_000, "165s", "150s", 3_500_000);
            case Q7 -> new Size(4_000_000, "400s", "600s", 100_000);
            case Q7_SESSION, Q11_MEDIAN -> new Size(4_000_000, "400s", "260s", 43_000);
            case Q8 -> null;
            case Q11 -> new Size(1_100_000, "110s", "350s", 1_200_000);
            case Q12 -> new Size(2_650_000, "225s", "150s", 3_900_000);
        };
    }

    private static @Nullable Size twentyTimes(Query query) {
        return switch (query) {
            case Q5, Q5_APPEND -> new Size(4_125_000, "412s", "375s", 8_750_000);
            case Q7 -> new Size(5_200_000, "520s", "780s", 130_000);
            case Q7_SESSION, Q11_MEDIAN -> new Size(5_200_000, "520s", "338s", 56_000);
            case Q8 -> null;
            case Q11 -> new Size(2_750_000, "275s", "875s", 3_000_000);
            case Q12 -> new Size(6_625_000, "562s", "375s", 9_750_000);
        };
    }
}
