package io.afterbay.cli;

import io.afterbay.bench.Cell;
import io.afterbay.workloads.nexmark.Query;
import java.util.ArrayList;
import java.util.List;

/**
 * A query in a cell of the experiment: with which options its state has the size of the cell.
 *
 * <p>In memory, all queries have the same: windows of a minute, and 20,000 active bidders. To
 * exceed memory, the budget is small rather than the state large, so that runs take minutes: 600
 * MiB of which 185 are for state. Append queries keep all bids of a window (82 bytes each in a
 * checkpoint); the others keep a count per key (35 to 50 bytes), so they get more keys. Q8 keeps
 * less than a byte per event: four times the memory would take a billion events, and is left out.
 */
record NexmarkCell(Cell cell, Query query) {
    private static final String MEMORY = "2g";
    private static final Size IN_MEMORY = new Size(3_000_000, "60s", "5s", 20_000);
    private static final String SMALL_MEMORY = "600m";

    private record Size(long events, String window, String sessionGap, long activeKeys) {
        private List<String> options() {
            return List.of(
                    "--events=" + events,
                    "--window=" + window,
                    "--session-gap=" + sessionGap,
                    "--active-keys=" + activeKeys);
        }
    }

    /** Whether the query can have state of that size. */
    boolean exists() {
        return cell == Cell.IN_MEMORY || query != Query.Q8;
    }

    /** What to compare, as arguments of {@code afterbay}. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of("compare", "nexmark", "--query=" + query));
        arguments.addAll(size().options());
        arguments.add("--memory=" + (cell == Cell.IN_MEMORY ? MEMORY : SMALL_MEMORY));
        if (cell == Cell.LIMITED) {
            arguments.add("--cgroup-limit");
        }
        return arguments;
    }

    /** Events in one closed loop. */
    long events() {
        return size().events;
    }

    private Size size() {
        return cell == Cell.IN_MEMORY ? IN_MEMORY : larger();
    }

    private Size larger() {
        return switch (query) {
            case Q5, Q5_APPEND -> new Size(18_000_000, "1800s", "600s", 40_000_000);
            case Q7 -> new Size(11_000_000, "1100s", "600s", 100_000);
            case Q7_SESSION, Q11_MEDIAN -> new Size(11_000_000, "1100s", "720s", 120_000);
            case Q8 -> throw new IllegalStateException("Q8 does not exceed memory");
            case Q11 -> new Size(11_000_000, "1100s", "3600s", 12_500_000);
            case Q12 -> new Size(30_000_000, "900s", "600s", 45_000_000);
        };
    }
}
