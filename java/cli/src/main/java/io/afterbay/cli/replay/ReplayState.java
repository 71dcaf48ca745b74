package io.afterbay.cli.replay;

/** What a replay is doing, or how it has ended. */
enum ReplayState {
    RUNNING("running"),
    PAUSED("paused"),
    /** Its process ended before the replay did: it can be started again. */
    INTERRUPTED("interrupted"),
    /** Its job is on a cluster that does not answer. */
    UNKNOWN("unknown: its cluster does not answer"),
    FINISHED("finished"),
    FAILED("failed"),
    CANCELLED("cancelled");

    private final String text;

    ReplayState(String text) {
        this.text = text;
    }

    boolean isAlive() {
        return this == RUNNING || this == PAUSED;
    }

    /** Whether nothing can be done with it any more. */
    boolean isOver() {
        return this == FINISHED || this == CANCELLED;
    }

    @Override
    public String toString() {
        return text;
    }
}
