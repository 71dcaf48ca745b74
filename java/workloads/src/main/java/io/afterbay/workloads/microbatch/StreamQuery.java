package io.afterbay.workloads.microbatch;

/**
 * The queries, which MiSA takes from Linear Road and from a benchmark of cluster monitoring (table
 * 2). Windows are of event time; rows come when they are complete.
 */
public enum StreamQuery {
    /** Each position report with all of the same vehicle in the 30 s before it, and itself. */
    LR2("lr2", true, 30, 1),

    /** Reports by highway, direction and segment. */
    LR4("lr4", true, 20, 5),

    /** CPU that is requested, by category, ordered by that sum. */
    CM1("cm1", false, 60, 10),

    /** Mean of the CPU that tasks request when they are scheduled, by job. */
    CM2("cm2", false, 30, 1);

    private final String label;
    private final boolean isLinearRoad;
    private final int rangeSeconds;
    private final int slideSeconds;

    StreamQuery(String label, boolean isLinearRoad, int rangeSeconds, int slideSeconds) {
        this.label = label;
        this.isLinearRoad = isLinearRoad;
        this.rangeSeconds = rangeSeconds;
        this.slideSeconds = slideSeconds;
    }

    /** How users of commands call it. */
    public String label() {
        return label;
    }

    /** Whether its input is position reports, rather than task events. */
    public boolean isLinearRoad() {
        return isLinearRoad;
    }

    /** How much of event time a window is long. */
    public int rangeSeconds() {
        return rangeSeconds;
    }

    /** How much of event time is between the beginnings of two windows. */
    public int slideSeconds() {
        return slideSeconds;
    }
}
