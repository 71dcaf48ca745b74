package io.afterbay.workloads.nexmark;

import io.afterbay.workloads.nexmark.NexmarkOptions.Windows;
import java.util.HashMap;
import java.util.Map;

/** The right rows for the tests of other packages. */
public final class Answers {
    public static final long EVENTS = 20_000;
    public static final long ACTIVE_KEYS = 200;

    private static final Windows WINDOWS = new Windows(10_000, 1_000);

    private Answers() {}

    /** Rows as CSV with how often they are there: windows of 10 s, gap 1 s, 2 ms, seed 1. */
    public static Map<String, Integer> of(Query query) {
        Generator generator = new Generator(1, 2_000, ACTIVE_KEYS);
        Map<String, Integer> rows = new HashMap<>();
        query.reference()
                .run(
                        new NexmarkOptions(query, EVENTS, generator, WINDOWS, 0, null, "answers"),
                        row -> rows.merge(row.csv(), 1, Integer::sum));
        return rows;
    }
}
