package io.afterbay.bench;

/** Ratios of one figure, pair by pair. */
public record Ratio(double median, double min, double max) {}
