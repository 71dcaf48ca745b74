package io.afterbay.cli.profile;

/**
 * The CPU time that tasks spend in the state backend, each as a share of all their CPU time.
 *
 * @param write see {@link StoreOperation#WRITE}
 * @param read see {@link StoreOperation#READ}
 */
public record StoreShares(double write, double read) {}
