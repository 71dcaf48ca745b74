package io.afterbay.spark.model;

/**
 * One run of the query, from a start to a crash: where its driver is.
 *
 * @param id runs are counted
 * @param batch it works on
 * @param start of the batch in the input
 * @param end of the batch, above the start
 * @param tasksDone bit p: the task of partition p has committed its state
 */
record Run(int id, int batch, Phase phase, int start, int end, int tasksDone) {

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
        return new Run(id, batch, next, start, end, tasksDone);
    }

    Run planned(int newEnd) {
        return new Run(id, batch, Phase.ADD_OFFSETS, start, newEnd, 0);
    }

    Run withTaskDone(int partition) {
        return new Run(id, batch, phase, start, end, tasksDone | 1 << partition);
    }

    Run nextBatch(int batches) {
        return new Run(id, batch + 1, batch + 1 < batches ? Phase.PLAN : Phase.DONE, end, end, 0);
    }
}
