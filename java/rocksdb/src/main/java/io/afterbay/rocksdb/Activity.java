package io.afterbay.rocksdb;

/** Counts what the instances of a process do at once. Guarded by the coordinator's lock. */
final class Activity {
    private int flushes;
    private int compactions;
    private long flushesBegan;
    private long compactionsBegan;
    private int mostFlushes;
    private int mostCompactions;
    private long overlaps;
    private long burst;
    private int compactionsOfBurst;
    private int mostCompactionsOfBurst;

    void flushBegan() {
        flushes++;
        flushesBegan++;
        mostFlushes = Math.max(mostFlushes, flushes);
        overlaps += compactions > 0 ? 1 : 0;
    }

    void flushesEnded(int count) {
        flushes -= count;
    }

    /**
     * @param latestBurst its number
     */
    void compactionBegan(long latestBurst) {
        compactions++;
        compactionsBegan++;
        mostCompactions = Math.max(mostCompactions, compactions);
        overlaps += flushes > 0 ? 1 : 0;
        if (latestBurst != burst) {
            burst = latestBurst;
            compactionsOfBurst = 0;
        }
        compactionsOfBurst++;
        mostCompactionsOfBurst = Math.max(mostCompactionsOfBurst, compactionsOfBurst);
    }

    void compactionsEnded(int count) {
        compactions -= count;
    }

    int compactions() {
        return compactions;
    }

    int flushes() {
        return flushes;
    }

    long flushesBegan() {
        return flushesBegan;
    }

    long compactionsBegan() {
        return compactionsBegan;
    }

    int mostFlushes() {
        return mostFlushes;
    }

    int mostCompactions() {
        return mostCompactions;
    }

    long overlaps() {
        return overlaps;
    }

    int mostCompactionsOfBurst() {
        return mostCompactionsOfBurst;
    }
}
