package io.afterbay.spark.model;

/** A file that a run hands to the publisher. */
sealed interface Entry {
    /** {@code offsets/batch}: the batch ends before this offset of the input. */
    record Offsets(int batch, int end) implements Entry {
        @Override
        public String toString() {
            return "offsets/" + batch + " (ends at " + end + ")";
        }
    }

    /** The state of a partition after a batch, as one attempt of a task of one run wrote it. */
    record State(int batch, int partition, int run, int attempt) implements Entry {
        @Override
        public String toString() {
            return "state of partition "
                    + partition
                    + " after batch "
                    + batch
                    + ", run "
                    + run
                    + (attempt == 0 ? "" : ", attempt " + attempt);
        }
    }

    /**
     * {@code commits/batch}: names the state files of one run, by their unique ids.
     *
     * @param attempts as in {@link Run}
     */
    record Commit(int batch, int run, int attempts) implements Entry {
        State state(int partition) {
            return new State(batch, partition, run, Run.attempt(attempts, partition));
        }

        @Override
        public String toString() {
            return "commits/" + batch + " (names the state of run " + run + ")";
        }
    }
}
