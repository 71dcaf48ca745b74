package io.afterbay.store.page;

import io.afterbay.store.MemoryBudget;

/**
 * How large new pages should be. A whole page is read and written for each entry that is used at
 * random, so pages are small; but each has an entry in the page table, which stays in memory.
 */
final class PageSizing {
    private static final int ENTRY_PAGE_BYTES_MIN = 1 << 10;

    /** Pages of entries are smallest while the page table is at most this part of the share. */
    private static final int TABLE_PARTS = 16;

    /** Pages at the ends of lists are smallest while the page table is at most this part. */
    private static final int LIST_TABLE_PARTS = 8;

    /** Of the share, for the pages at the ends of all lists. */
    private static final int LIST_ENDS_PARTS = 4;

    private final MemoryBudget budget;
    private final PageTable table;

    PageSizing(MemoryBudget budget, PageTable table) {
        this.budget = budget;
        this.table = table;
    }

    int entryPageBytes() {
        int bytes = ENTRY_PAGE_BYTES_MIN;
        long tableMax = budget.shareBytes() / TABLE_PARTS;
        while (bytes < PageStore.ENTRY_PAGE_BYTES_MAX && table.memoryBytes() > tableMax) {
            bytes *= 2;
            tableMax *= 2;
        }
        return bytes;
    }

    int listPageBytes(long lists) {
        long share = budget.shareBytes();
        int bytes = PageSize.SMALLEST_BYTES;
        long tableMax = share / LIST_TABLE_PARTS;
        while (bytes < PageSize.LARGEST_BYTES
                && (2L * bytes * lists <= share / LIST_ENDS_PARTS
                        || table.memoryBytes() > tableMax)) {
            bytes *= 2;
            tableMax *= 2;
        }
        return bytes;
    }
}
