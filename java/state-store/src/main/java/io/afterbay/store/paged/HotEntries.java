package io.afterbay.store.paged;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.page.Memory;
import io.afterbay.store.page.PageStore;
import io.afterbay.store.redo.RedoLog;
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
 *   <li>While there is a redo log, a dirty record is <em>logged</em>, or it is queued to be: at
 *       most {@link #QUEUED_MAX} are. So what an incremental checkpoint has to wait for is bounded.
 *       A record is queued if and only if the queue has its position.
 * </ul>
 *
 * <p>A snapshot that is expected is prepared for: in each operation a few dirty records go home, in
 * the order of the ring, and only {@link #QUEUED_WHILE_CLEANING_MAX} are left behind.
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

    /** Three milliseconds to log. */
    private static final int QUEUED_MAX = 1 << 15;

    /** Two milliseconds to write home. */
    private static final int QUEUED_WHILE_CLEANING_MAX = 1 << 12;

    private static final int RECORDS_PER_CLEANING_STEP = 2;

    private final PageStore pages;
    private final RedoLog redo;
    private final ChangeQueue queue = new ChangeQueue(QUEUED_MAX);
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
    private int dirty;
    private boolean isCleaning;

    /**
     * Records before this position are clean, or queued, or became dirty after they were passed.
     */
    private long cleanedTo;

    HotEntries(PageStore pages, RedoLog redo) {
        this.pages = pages;
        this.redo = redo;
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
        if (isCleaning && ring != null) {
            clean(ring);
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

    private long renew(HotLog ring, HotIndex at, long old) {
        int bytes = HotRecord.bytes(old);
        long record = ring.allocate(bytes);
        Memory.copy(old, record, bytes);
        at.move(old, record);
        moved(old, record);
        return record;
    }

    private void moved(long from, long to) {
        HotRecord.setFlags(from, HotRecord.DEAD);
        if (HotRecord.isQueued(from)) {
            HotRecord.setQueued(from, false);
            enqueue(to);
        }
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
        HotRecord.setLoggedBytes(grown, HotRecord.loggedBytes(record));
        at().move(record, grown);
        moved(record, grown);
        return grown;
    }

    /** To be called behind each change of a record: says what it is from now on, in flags. */
    void changed(long record, int flags) {
        setFlags(record, flags);
        if (redo.isOn() && (flags & HotRecord.DIRTY) != 0 && !HotRecord.isQueued(record)) {
            enqueue(record);
        }
    }

    private void setFlags(long record, int flags) {
        dirty += (flags & HotRecord.DIRTY) - (HotRecord.flags(record) & HotRecord.DIRTY);
        HotRecord.setFlags(record, flags);
    }

    /** Makes a record say that there is no entry; home must hear of it if it may have one. */
    void makeAbsent(long record) {
        boolean stored = HotRecord.has(record, HotRecord.STORED);
        HotRecord.setValueLength(record, 0);
        HotRecord.setLoggedBytes(record, 0);
        changed(
                record,
                stored ? HotRecord.DIRTY | HotRecord.STORED | HotRecord.ABSENT : HotRecord.ABSENT);
    }

    /** Forgets a record, dirty or not. */
    void discard(HotHome home, long record) {
        at().remove(record);
        setFlags(record, HotRecord.DEAD);
        home.records--;
    }

    /** Writes a record home if it is dirty, and forgets it; passes safepoints. */
    void sendHome(HotHome home, long record) {
        int flags = HotRecord.flags(record);
        if ((flags & HotRecord.DIRTY) == 0) {
            discard(home, record);
            return;
        }
        log(home, record);
        readForSettling(record);
        discard(home, record);
        home.settle(settledKey, flags, settledValue);
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

    /** Writes home everything that is dirty; clean copies stay. Passes safepoints. */
    void settle() {
        isCleaning = false;
        HotLog ring = log;
        if (ring == null || ring.isEmpty()) {
            return;
        }
        settleQueued(ring, 0);
        for (long record = ring.oldest(); record != 0 && dirty > 0; record = ring.after(record)) {
            settle(record);
        }
    }

    private void settleQueued(HotLog ring, int rest) {
        while (queue.size() > rest) {
            long record = dequeue(ring);
            if (record != 0) {
                settle(record);
            }
        }
    }

    private void settle(long record) {
        int flags = HotRecord.flags(record);
        if ((flags & HotRecord.DIRTY) == 0) {
            return;
        }
        HotHome home = homes.get(HotRecord.home(record));
        if ((flags & HotRecord.PARTIAL) != 0) {
            sendHome(home, record);
            return;
        }
        log(home, record);
        readForSettling(record);
        home.settle(settledKey, flags, settledValue);
        HotRecord.setLoggedBytes(record, HotRecord.valueLength(record));
        boolean absent = (flags & HotRecord.ABSENT) != 0;
        setFlags(record, absent ? HotRecord.ABSENT : HotRecord.STORED);
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

    // ---------------------------------------------------------------- ahead of checkpoints

    /** Tells the redo log all that it has not heard of. */
    void logChanges() {
        HotLog ring = log;
        if (ring != null && isCleaning) {
            settleQueued(ring, 0);
        } else if (ring != null) {
            logQueued(ring);
        }
    }

    private void logQueued(HotLog ring) {
        while (queue.size() > 0) {
            logOldest(ring);
        }
    }

    private void enqueue(long record) {
        HotLog ring = ring();
        if (queue.isFull()) {
            logOldest(ring);
        }
        queue.add(ring.position(record));
        HotRecord.setQueued(record, true);
    }

    private void logOldest(HotLog ring) {
        long record = dequeue(ring);
        if (record != 0 && HotRecord.has(record, HotRecord.DIRTY)) {
            log(homes.get(HotRecord.home(record)), record);
        }
    }

    /** The oldest of the queue, or 0 if it is no longer what was queued. */
    private long dequeue(HotLog ring) {
        long record = ring.at(queue.removeOldest());
        if (record == 0 || !HotRecord.isQueued(record)) {
            return 0;
        }
        HotRecord.setQueued(record, false);
        return record;
    }

    /** Writes to the log only: no safepoint, all addresses stay valid. */
    private void log(HotHome home, long record) {
        int flags = HotRecord.flags(record);
        if ((flags & HotRecord.LOGGED) == 0 && redo.isOn()) {
            readForSettling(record);
            home.log(settledKey, flags, HotRecord.loggedBytes(record), settledValue);
            HotRecord.setLoggedBytes(record, HotRecord.valueLength(record));
            HotRecord.setFlags(record, flags | HotRecord.LOGGED | HotRecord.STORED);
        }
    }

    /** From now on keeps few records dirty, until {@link #settle}. */
    void expectSnapshot() {
        HotLog ring = log;
        if (ring != null && !isCleaning) {
            isCleaning = true;
            cleanedTo = ring.firstPosition();
        }
    }

    /** Passes safepoints. */
    private void clean(HotLog ring) {
        for (int i = 0; i < RECORDS_PER_CLEANING_STEP && dirty > 0; i++) {
            cleanedTo = Math.max(cleanedTo, ring.firstPosition());
            if (cleanedTo < ring.endPosition()) {
                long record = ring.at(cleanedTo);
                cleanedTo += HotRecord.bytes(record);
                if (!HotRecord.isQueued(record)) {
                    settle(record);
                }
            }
        }
        settleQueued(ring, QUEUED_WHILE_CLEANING_MAX);
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
            queue.clear();
            dirty = 0;
            isCleaning = false;
        }
    }
}
