package io.afterbay.storm;

import io.afterbay.stragglers.TaskChooser;

/**
 * What the senders of one worker know of a stream to the tasks of a bolt: their common chooser.
 * Safe for use by any thread.
 */
final class Edge {
    private final TaskChooser chooser;

    Edge(TaskChooser chooser) {
        this.chooser = chooser;
    }

    /**
     * The task for a tuple, which is sent there at once.
     *
     * @param avoided a task that it goes around, if there is another; or none
     */
    int send(int avoided) {
        int task = chooser.chooseOther(avoided);
        chooser.sent(task);
        return task;
    }

    /** A task has processed a tuple. */
    void completed(int task, long nanos) {
        chooser.completed(task, nanos);
    }
}
