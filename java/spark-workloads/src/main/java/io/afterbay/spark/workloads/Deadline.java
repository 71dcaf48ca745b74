package io.afterbay.spark.workloads;

/**
 * Cuts batches by a deadline, as zStream does (MiSA, section 5.1): records are buffered until what
 * the oldest has waited and what a batch of all of them is expected to take add up to the deadline.
 * Expected is a line through the last batches, of which the newer weigh more.
 */
final class Deadline {
    private static final double MEMORY = 0.8;

    private final double deadlineMs;
    private double weight;
    private double records;
    private double millis;
    private double recordsSquared;
    private double product;

    Deadline(double deadlineMs) {
        this.deadlineMs = deadlineMs;
    }

    /** Whether to begin now. */
    boolean isDue(double waitedMs, long buffered) {
        return waitedMs + expectedMs(buffered) >= deadlineMs;
    }

    /** How long a batch took. */
    void ended(long ofRecords, double tookMs) {
        weight = MEMORY * weight + 1;
        records = MEMORY * records + ofRecords;
        millis = MEMORY * millis + tookMs;
        recordsSquared = MEMORY * recordsSquared + (double) ofRecords * ofRecords;
        product = MEMORY * product + ofRecords * tookMs;
    }

    double expectedMs(long ofRecords) {
        if (weight == 0) {
            return 0;
        }
        double mean = millis / weight;
        double spread = recordsSquared - records * records / weight;
        if (spread < 1) {
            return mean;
        }
        double slope = Math.max(0, (product - records * mean) / spread);
        return Math.max(0, mean + slope * (ofRecords - records / weight));
    }
}
