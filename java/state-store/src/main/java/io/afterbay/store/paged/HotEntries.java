package io.afterbay.store.paged;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The hot tier: values and short lists that were used lately, in front of the trees, for all states
 * of a store. An entry that lives and dies here never touches a tree. The layout is that of
 * FASTER's hybrid log (Chandramouli et al., SIGMOD 2018, section 5) without its concurrency: a hash
 * index into a log whose young half is updated in place; what is used again when old is copied to
 * the tail; what falls off the head goes home.
 *
 * <pre>
 *   hash index --> | old half | young half |   ring of records, a fixed part of the budget
 *                   |          ^
 *                   |  used    |
 *      dirty: to    |__________|
 *      its tree  <--'
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>A live record is what the owner reads, whatever its home holds, but for PARTIAL ones. There
 *       is one at most for a key of a state.
 *   <li>Record addresses stay valid until the next {@link #prepare}: only that makes room. Between
 *       two of them at most {@link #RECORDS_MAX} records may be made.
 *   <li>Before a snapshot or a scan everything dirty is at home. While a state is scanned nothing
 *       of it is here.
 * </ul>
 *
 * <p>A tier that is too small for the entries in use only costs: if few reads find something, it
 * takes nothing in for a while. While reads go to the disk, it takes in values at their second
 * visit only. The owner's thread only.
 */
final class HotEntries {
    private static final long BYTES_MAX = 32 << 20;
    private static final long BYTES_MIN = 64 << 10;

    /** Of the budget, and of the store's share of it. */
    private static final int PART_OF_BUDGET = 16;

    private static final int PART_OF_SHARE = 8;

    /** More than records can be: the smallest is {@link HotRecord#HEADER_BYTES} + 16. */
    private static final int LOG_BYTES_PER_SLOT = 32;

    private static final int RECORDS_MAX = 3;

    /** Reads after which it is decided anew whether the tier helps. */
    private static final int READS_PER_TRIAL = 1 << 13;

    /** Of the reads of a trial. */
    private static final int HITS_MIN = READS_PER_TRIAL / 5;

    private static final int READS_PER_REST = 1 << 18;

    /** Page faults per read without a record, from which on the tier is selective: 1 / 4. */
    private static final int FAULTS_PER_MISS_PARTS = 4;

    /** On the heap, half a MiB at most. */
    private static final int DOORKEEPER_BITS_PER_SLOT = 4;

    private static final int READS_PER_SCAN_STEP = 1 << 10;

    private final PageStore pages;
    private final List<HotHome> homes = new ArrayList<>();
    private final StateKey settledKey = new StateKey();
    private final Slice settledKeyBytes = new Slice();
    private final Slice settledValue = new Slice();
    private @Nullable Doorkeeper doorkeeper;
    private @Nullable HotIndex index;
    private @Nullable HotLog log;
    private long region;
    private long regionBytes;
    private int seenPressure = -1;
    private int reads;
    private int hits;
    private int rest;
    private long faults;
    private boolean isSelective;
    private boolean isScanned;

    HotEntries(PageStore pages) {
        this.pages = pages;
    }

    void register(HotHome home) {
        home.id = homes.size();
        homes.add(home);
    }

    // ---------------------------------------------------------------- for each operation

    /** Begins an operation: makes room for its records. Passes safepoints. */
    void prepare() {
        pages.checkUsable();
        if (pages.pressure() != seenPressure) {
            fitShare();
        }
        HotLog ring = log;
        while (ring != null
                && !ring.hasRoom(RECORDS_MAX * HotRecord.BYTES_MAX, HotRecord.BYTES_MAX)) {
            giveUpOldest(ring);
        }
    }

    /** The record of a key, or 0; one that was about to leave stays. */
    long find(HotHome home, StateKey key) {
        HotIndex at = index;
        HotLog ring = log;
        if (at == null || ring == null || home.records == 0) {
            return 0;
        }
        long record = at.find(home.id, key);
        return record != 0 && ring.isOld(record) ? renew(ring, at, record) : record;
    }

    private static long renew(HotLog ring, HotIndex at, long old) {
        int bytes = HotRecord.bytes(old);
        long record = ring.allocate(bytes);
        Memory.copy(old, record, bytes);
        at.move(old, record);
        HotRecord.setFlags(old, HotRecord.DEAD);
        return record;
    }

    /** As {@link #find}, and counts towards the decision whether the tier helps. */
    long findForRead(HotHome home, StateKey key) {
        long record = find(home, key);
        reads++;
        if (record != 0) {
            hits++;
        }
        if (reads >= READS_PER_TRIAL) {
            endTrial();
        }
        return record;
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

    /** Whether a key without a record should get one. */
    boolean admits(StateKey key, int valueBytes) {
        return rest <= 0 && fits(key, valueBytes);
    }

    private boolean fits(StateKey key, int valueBytes) {
        return log != null
                && key.length() <= HotRecord.KEY_BYTES_MAX
                && valueBytes <= HotRecord.VALUE_BYTES_MAX;
    }

    /**
     * As {@link #admits}, for entries that are read and then written. While reads go to the disk,
     * only those that have come before: the page of an entry that comes once is there when it is
     * written now, and would have to be read again when it is settled later. That keeps useless
     * ones out, so the tier need not rest.
     */
    boolean admitsAgain(HotHome home, StateKey key, int valueBytes) {
        Doorkeeper keeper = doorkeeper;
        if (!isSelective || keeper == null) {
            return admits(key, valueBytes);
        }
        return !isScanned
                && fits(key, valueBytes)
                && keeper.hasCome(HotIndex.mix(home.id, key.hash()));
    }

    /** A new record for a key that has none and is admitted; with room for the value, but empty. */
    long insert(HotHome home, StateKey key, int flags, int valueBytes) {
        int capacity = Math.max(8, Math.max(valueBytes, home.usualValueBytes));
        int bytes = HotRecord.bytesFor(key.length(), capacity);
        long record = ring().allocate(bytes);
        HotRecord.init(record, bytes, home.id, flags, key);
        at().add(record);
        home.records++;
        return record;
    }

    /** The same record with room for a value of {@code valueBytes}, which must be admissible. */
    long grow(HotHome home, StateKey key, long record, int valueBytes) {
        if (HotRecord.capacity(record) >= valueBytes) {
            return record;
        }
        int capacity =
                Math.min(HotRecord.VALUE_BYTES_MAX, Math.max(valueBytes, valueBytes * 3 / 2));
        int bytes = HotRecord.bytesFor(key.length(), capacity);
        long grown = ring().allocate(bytes);
        HotRecord.init(grown, bytes, home.id, HotRecord.flags(record), key);
        int length = HotRecord.valueLength(record);
        Memory.copy(HotRecord.valueAt(record), HotRecord.valueAt(grown), length);
        HotRecord.setValueLength(grown, length);
        at().move(record, grown);
        HotRecord.setFlags(record, HotRecord.DEAD);
        return grown;
    }

    /** Forgets a record, dirty or not. */
    void discard(HotHome home, long record) {
        at().remove(record);
        HotRecord.setFlags(record, HotRecord.DEAD);
        home.records--;
    }

    /** Writes a record home if it is dirty, and forgets it; passes safepoints. */
    void sendHome(HotHome home, long record) {
        int flags = HotRecord.flags(record);
        readForSettling(record);
        discard(home, record);
        if ((flags & HotRecord.DIRTY) != 0) {
            home.settle(settledKey, flags, settledValue);
        }
    }

    private void giveUpOldest(HotLog ring) {
        long record = ring.oldest();
        if (!HotRecord.has(record, HotRecord.DEAD)) {
            sendHome(homes.get(HotRecord.home(record)), record);
        }
        ring.dropOldest();
    }

    private void readForSettling(long record) {
        HotRecord.readKey(record, settledKey, settledKeyBytes);
        HotRecord.readValue(record, settledValue);
    }

    private HotLog ring() {
        return admitted(log);
    }

    private HotIndex at() {
        return admitted(index);
    }

    private static <T> T admitted(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("the hot tier has no memory");
        }
        return part;
    }

    // ---------------------------------------------------------------- all entries

    /** Writes home everything that is dirty; clean copies stay. */
    void settle() {
        HotLog ring = log;
        if (ring == null || ring.isEmpty()) {
            return;
        }
        for (long record = ring.oldest(); record != 0; record = ring.after(record)) {
            int flags = HotRecord.flags(record);
            if ((flags & (HotRecord.DEAD | HotRecord.DIRTY)) == HotRecord.DIRTY) {
                settle(record, flags);
            }
        }
    }

    private void settle(long record, int flags) {
        HotHome home = homes.get(HotRecord.home(record));
        if ((flags & HotRecord.PARTIAL) != 0) {
            sendHome(home, record);
            return;
        }
        readForSettling(record);
        home.settle(settledKey, flags, settledValue);
        boolean absent = (flags & HotRecord.ABSENT) != 0;
        HotRecord.setFlags(record, absent ? HotRecord.ABSENT : HotRecord.STORED);
    }

    /** Sends home all of a state that is about to be scanned, or goes on being scanned. */
    void evacuate(HotHome home) {
        rest = Math.max(rest, READS_PER_SCAN_STEP);
        isScanned = true;
        if (home.records > 0) {
            clear(home, true);
        }
    }

    /** Forgets all of a state. */
    void forget(HotHome home) {
        if (home.records > 0) {
            clear(home, false);
        }
    }

    private void clear(HotHome home, boolean settling) {
        HotLog ring = ring();
        for (long record = ring.oldest();
                record != 0 && home.records > 0;
                record = ring.after(record)) {
            if (HotRecord.has(record, HotRecord.DEAD) || HotRecord.home(record) != home.id) {
                continue;
            }
            if (settling) {
                sendHome(home, record);
            } else {
                discard(home, record);
            }
        }
    }

    // ---------------------------------------------------------------- memory

    /** Takes memory if there is none, or less if the share has become small; passes safepoints. */
    void fitShare() {
        seenPressure = pages.pressure();
        giveBack();
        long fitting = fittingBytes();
        if (regionBytes == 0 && fitting >= BYTES_MIN) {
            take(fitting);
        }
    }

    /** Gives all memory back if the share has become too small for it; passes safepoints. */
    void giveBack() {
        if (regionBytes > fittingBytes()) {
            release();
        }
    }

    private long fittingBytes() {
        long parts =
                Math.min(pages.budgetBytes() / PART_OF_BUDGET, pages.shareBytes() / PART_OF_SHARE);
        return Math.min(BYTES_MAX, parts);
    }

    private void take(long bytes) {
        region = pages.reserve(bytes);
        if (region == 0) {
            return;
        }
        regionBytes = bytes;
        int slots = Integer.highestOneBit((int) (bytes / LOG_BYTES_PER_SLOT));
        long indexBytes = HotIndex.bytesFor(slots);
        long logBytes = Math.min(HotIndex.LOG_BYTES_MAX, bytes - indexBytes) & ~7;
        index = new HotIndex(region, slots, region + indexBytes);
        log = new HotLog(region + indexBytes, (int) logBytes);
        doorkeeper = new Doorkeeper(DOORKEEPER_BITS_PER_SLOT * slots);
    }

    private void release() {
        HotLog ring = log;
        while (ring != null && !ring.isEmpty()) {
            giveUpOldest(ring);
        }
        free();
    }

    /** Frees the memory with all that it holds. */
    void free() {
        if (regionBytes != 0) {
            pages.unreserve(region, regionBytes);
            regionBytes = 0;
            index = null;
            doorkeeper = null;
            log = null;
        }
    }
}
