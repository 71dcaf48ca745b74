package io.afterbay.store.paged;

import io.afterbay.store.page.PageStore;

/**
 * Decides what the {@link HotEntries hot tier} takes in. A tier that is too small for the entries
 * in use only costs: if few reads find something, it takes nothing in for a while. While reads go
 * to the disk, it takes in values at their second visit only.
 */
final class HotAdmission {
    /** Reads after which it is decided anew whether the tier helps. */
    private static final int READS_PER_TRIAL = 1 << 13;

    /** Of the reads of a trial. */
    private static final int HITS_MIN = READS_PER_TRIAL / 5;

    private static final int READS_PER_REST = 1 << 18;

    /** Page faults per read without a record, from which on the tier is selective: 1 / 4. */
    private static final int FAULTS_PER_MISS_PARTS = 4;

    private static final int READS_PER_SCAN_STEP = 1 << 10;

    private final PageStore pages;
    private int reads;
    private int hits;
    private int rest;
    private long faults;
    private boolean isSelective;
    private boolean isScanned;

    HotAdmission(PageStore pages) {
        this.pages = pages;
    }

    /** The tier was asked for an entry. */
    void read(boolean found) {
        reads++;
        if (found) {
            hits++;
        }
        if (reads >= READS_PER_TRIAL) {
            endTrial();
        }
    }

    private void endTrial() {
        if (rest > 0) {
            rest -= reads;
        } else if (hits < HITS_MIN) {
            rest = READS_PER_REST;
        }
        isSelective = pages.pageFaults() - faults > (reads - hits) / FAULTS_PER_MISS_PARTS;
        isScanned = false;
        faults = pages.pageFaults();
        reads = 0;
        hits = 0;
    }

    /** Forgets what the last reads were like. */
    void startAgain() {
        reads = 0;
        hits = 0;
        rest = 0;
        faults = pages.pageFaults();
    }

    /** A state is being scanned. */
    void scanned() {
        rest = Math.max(rest, READS_PER_SCAN_STEP);
        isScanned = true;
    }

    /** Whether an entry is to be taken in. */
    boolean takes() {
        return rest <= 0;
    }

    /**
     * As {@link #takes}, for entries that are read and then written. While reads go to the disk,
     * only those that have come before: the page of an entry that comes once is there when it is
     * written now, and would have to be read again when it is settled later. That keeps useless
     * ones out, so the tier need not rest.
     *
     * @param hash of the entry
     */
    boolean takesAgain(Doorkeeper keeper, long hash) {
        return isSelective ? !isScanned && keeper.hasCome(hash) : takes();
    }
}
