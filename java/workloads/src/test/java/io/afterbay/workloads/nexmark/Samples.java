package io.afterbay.workloads.nexmark;

import io.afterbay.workloads.nexmark.NexmarkOptions.Windows;

/** Small inputs on which every query has something to do. */
final class Samples {
    static final Generator GENERATOR = new Generator(7, 1_000, 300);

    private static final long EVENTS = 60_000;
    private static final Windows WINDOWS = new Windows(4_000, 700);

    private Samples() {}

    /** A minute of event time, 15 windows, sessions that end all the time. */
    static NexmarkOptions options(Query query) {
        return new NexmarkOptions(query, EVENTS, GENERATOR, WINDOWS, 0, null, "sample-" + query);
    }

    /** So that no query is right because nothing happens. */
    static long rowsAtLeast(Query query) {
        return switch (query) {
            case Q5, Q5_APPEND -> 29;
            case Q7 -> 4_000;
            case Q8 -> 500;
            case Q7_SESSION, Q11, Q11_MEDIAN -> 5_000;
            case Q12 -> 100;
        };
    }
}
