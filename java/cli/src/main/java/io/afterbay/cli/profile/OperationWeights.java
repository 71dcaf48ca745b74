package io.afterbay.cli.profile;

import org.jspecify.annotations.Nullable;

/** Samples of one thread in one state, by what it does in the state backend. */
final class OperationWeights {
    private double write;
    private double read;
    private double rest;

    /**
     * @param operation null if it is in none
     */
    void add(@Nullable StoreOperation operation, double weight) {
        if (operation == null) {
            rest += weight;
        } else if (operation == StoreOperation.WRITE) {
            write += weight;
        } else {
            read += weight;
        }
    }

    boolean isEmpty() {
        return write + read + rest == 0;
    }

    /** The share of the samples; 0 without any. */
    double share(StoreOperation operation) {
        double all = write + read + rest;
        double part = operation == StoreOperation.WRITE ? write : read;
        return all == 0 ? 0 : part / all;
    }
}
