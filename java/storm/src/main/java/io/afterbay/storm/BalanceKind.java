package io.afterbay.storm;

/**
 * By what a balanced stream's tuples of one worker are sent at the moment. The numbers are the
 * values of a metric: they do not change.
 */
enum BalanceKind {
    /** No task of this worker sends. */
    NONE(0, "nothing is sent from here"),
    /** Storm's load-aware shuffle grouping. */
    STORM(1, "Storm's load-aware shuffle"),
    /** All tasks of the bolt are in this worker, and say how long they take. */
    WORKER(2, "two choices, all tasks are in this worker"),
    /** Those in this worker are, as long as Storm's grouping keeps to them too. */
    WORKER_FIRST(3, "two choices among this worker's tasks, Storm's grouping when they are full"),
    /** A spout's acks say how long the path of a task takes, wherever the task is. */
    ACKS(4, "two choices by acks, among all tasks"),
    /** All tasks get as many, save those with fuller queues ({@link EvenSpread}). */
    EVEN(5, "an even share for each task; two choices among those in this worker");

    private final int value;
    private final String text;

    BalanceKind(int value, String text) {
        this.value = value;
        this.text = text;
    }

    int value() {
        return value;
    }

    /** For people. */
    @Override
    public String toString() {
        return text;
    }
}
