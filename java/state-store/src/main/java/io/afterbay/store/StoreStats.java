package io.afterbay.store;

/**
 * Figures of one store since it was opened; bytes unless the name says otherwise.
 *
 * @param memoryBytes memory held now, out of the budget
 * @param memoryLimitBytes this store's present share of the budget
 * @param diskLiveBytes bytes in local files that are still needed
 * @param diskTotalBytes bytes in local files
 * @param writtenBytes written to local files
 * @param readBytes read from local files
 * @param relocatedBytes part of {@code writtenBytes} that compaction moved
 * @param copiedBytes part of {@code writtenBytes} that images copied
 * @param settledBytes part of {@code copiedBytes} that became the place of pages which had none
 * @param pageFaults reads that had to go to a file, and be waited for one by one
 * @param pagesReadAhead pages that were read before they were needed, several at a time
 * @param pagesReadInVain part of {@code pagesReadAhead} that left memory before anybody used them
 * @param evictions pages that left memory
 * @param writeStalls times the owner wrote itself, or waited for a write, since all write buffers
 *     were full
 * @param writeStallNanos how long it waited in all
 * @param compactionStalls times the owner compacted or deleted files itself before it wrote more,
 *     since compaction was so far behind
 * @param compactionStallNanos how long that took in all
 */
public record StoreStats(
        long memoryBytes,
        long memoryLimitBytes,
        long diskLiveBytes,
        long diskTotalBytes,
        long writtenBytes,
        long readBytes,
        long relocatedBytes,
        long copiedBytes,
        long settledBytes,
        long pageFaults,
        long pagesReadAhead,
        long pagesReadInVain,
        long evictions,
        long writeStalls,
        long writeStallNanos,
        long compactionStalls,
        long compactionStallNanos) {
    /**
     * Of the pages that were read ahead, the part that was used, or is still in memory: from 0 to
     * 1, and 1 if there were none. The hit ratio r of FlowKV (section 4.2).
     */
    public double readAheadHitRatio() {
        return pagesReadAhead == 0 ? 1 : 1 - (double) pagesReadInVain / pagesReadAhead;
    }

    /**
     * Pages that operations have read from files, for each that was of use: 1 or more. A page that
     * left memory unused, and is read again when it is needed, counts twice; so it is 1 / r where
     * all pages are read ahead (FlowKV, equation 1). Compaction and snapshots do not count.
     */
    public double readAmplification() {
        long read = pageFaults + pagesReadAhead;
        return (double) Math.max(1, read) / Math.max(1, read - pagesReadInVain);
    }
}
