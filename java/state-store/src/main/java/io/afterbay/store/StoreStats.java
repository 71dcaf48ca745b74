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
 * @param evictions pages that left memory
 * @param writeStalls times the owner waited for the background writer
 * @param writeStallNanos how long it waited in all
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
        long evictions,
        long writeStalls,
        long writeStallNanos) {}
