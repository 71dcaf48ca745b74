package io.afterbay.spark.model;

/** A file that a run hands to the publisher. */
sealed interface Entry {
    /** Its name in the storage, without what tells attempts apart. */
    String target();

    /** {@code offsets/batch}: the batch ends before this offset of the input. */
    record Offsets(int batch, int end) implements Entry {
        @Override
        public String target() {
            return "offsets/" + batch;
        }

        @Override
        public String toString() {
            return "offsets/" + batch + " (ends at " + end + ")";
        }
    }

    /** {@code sources/0/number}: what a source of files has seen, up to this end of the input. */
    record Source(int number, int end) implements Entry {
        @Override
        public String target() {
            return "sources/0/" + number;
        }

        @Override
        public String toString() {
            return "sources/0/" + number + " (knows the input to " + end + ")";
        }
    }

    /** The state of a partition after a batch, as one attempt of a task of one run wrote it. */
    record State(int batch, int partition, int run, int attempt) implements Entry {
        @Override
        public String target() {
            return "state/" + partition + "/" + batch;
        }

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
        @Override
        public String target() {
            return "commits/" + batch;
        }

        State state(int partition) {
            return new State(batch, partition, run, Run.attempt(attempts, partition));
        }

        @Override
        public String toString() {
            return "commits/" + batch + " (names the state of run " + run + ")";
        }
    }
}
