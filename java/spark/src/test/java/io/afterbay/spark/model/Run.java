package io.afterbay.spark.model;

/**
 * One run of the query, from a start to a crash: where its driver is.
 *
 * @param id runs are counted
 * @param batch it works on
 * @param start of the batch in the input
 * @param end of the batch, above the start
 * @param tasksDone bit p: the task of partition p has committed its state
 * @param attempts bits 4p to 4p + 3: how often the task of partition p began again
 * @param sources files in the source's log, as this run knows them
 * @param known end of the input in that log
 */
record Run(
        int id,
        int batch,
        Phase phase,
        int start,
        int end,
        int tasksDone,
        int attempts,
        int sources,
        int known) {
    private static final int ATTEMPT_BITS = 4;

    enum Phase {
        /** Asks the source how far the next batch goes, and adds that to the offset log. */
        PLAN,
        /** In {@code offsetLog.add}, which has not returned. */
        ADD_OFFSETS,
        /** Tasks run and commit their state. */
        TASKS,
        /** All tasks have ended. */
        SINK,
        /** Before {@code commitLog.add}, which returns at once. */
        COMMIT,
        /** All batches of the model are done. */
        DONE
    }

    Run at(Phase next) {
        return new Run(id, batch, next, start, end, tasksDone, attempts, sources, known);
    }

    Run planned(int newEnd) {
        return new Run(id, batch, Phase.ADD_OFFSETS, start, newEnd, 0, 0, sources, known);
    }

    /** The source has written one more file of its log. */
    Run withSource(int end) {
        return new Run(id, batch, phase, start, this.end, tasksDone, attempts, sources + 1, end);
    }

    Run withTaskDone(int partition) {
        int done = tasksDone | 1 << partition;
        return new Run(id, batch, phase, start, end, done, attempts, sources, known);
    }

    Run withTaskAgain(int partition) {
        int again = attempts + (1 << ATTEMPT_BITS * partition);
        int done = tasksDone & ~(1 << partition);
        return new Run(id, batch, phase, start, end, done, again, sources, known);
    }

    boolean isDone(int partition) {
        return (tasksDone & 1 << partition) != 0;
    }

    static int attempt(int attempts, int partition) {
        return attempts >> ATTEMPT_BITS * partition & (1 << ATTEMPT_BITS) - 1;
    }

    Run nextBatch(int batches) {
        Phase next = batch + 1 < batches ? Phase.PLAN : Phase.DONE;
        return new Run(id, batch + 1, next, end, end, 0, 0, sources, known);
    }
}
