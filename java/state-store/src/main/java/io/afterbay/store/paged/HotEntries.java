package io.afterbay.store.paged;

import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import io.afterbay.store.StoreTuning;
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
 *   <li>{@link HotHome#latest} is a live record of that state, or 0: an entry is read and then
 *       written, and the second of them needs no search.
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
 * <p>While a redo log is replayed, the tier takes in all of it without a look at the trees, in a
 * region that is as large as the log, if there is memory; the records go home afterwards, as before
 * a snapshot.
 *
 * <p>What it takes in says {@link HotAdmission}. The owner's thread only.
 */
final class HotEntries {
    private static final long BYTES_MAX = 32 << 20;
    private static final long BYTES_MIN = 64 << 10;

    /** Behind a replay, until what was replayed is at home. */
    private static final int PART_OF_SHARE_ENLARGED = 2;

    private static final long ENLARGED_BYTES_MAX = 512 << 20;

    /**
     * A small record, its slot and the room to grow take three times as much as the log says of it;
     * what has no room is written to trees during the replay, which then takes three times as long.
     */
    private static final int ENLARGED_PER_LOG_BYTE = 3;

    /** Beside an enlarged region. */
    private static final long SPARE_BYTES = PageStore.MIN_SHARE_BYTES / 2;

    private static final int RECORDS_MAX = 3;

    /** Two milliseconds to log. */
    private static final int QUEUED_MAX = 1 << 14;

    /** A part of what the files of a redo log take without a wait. */
    private static final long QUEUED_BYTES_MAX = 1 << 19;

    /** Some milliseconds to write home, if all of their pages are on disk. */
    private static final int QUEUED_WHILE_CLEANING_MAX = 1 << 5;

    private static final int RECORDS_PER_CLEANING_STEP = 2;
    private static final int NEVER_SEEN = -1;

    private final PageStore pages;
    private final RedoLog redo;
    private final ChangeQueue queue = new ChangeQueue(QUEUED_MAX, QUEUED_BYTES_MAX);

    /** Of the budget. Of the store's share of it, half of that. */
    private final int partOfBudget;

    private final List<HotHome> homes = new ArrayList<>();
    private final StateKey settledKey = new StateKey();
    private final Slice settledKeyBytes = new Slice();
    private final Slice settledValue = new Slice();
    private final HotAdmission admission;
    private @Nullable HotRegion region;

    /** Of the region. */
    private @Nullable HotLog log;

    private int seenPressure = NEVER_SEEN;
    private int dirty;
    private boolean isReplaying;

    /** The region is larger than it may be for long. */
    private boolean isEnlarged;

    private boolean isCleaning;

    /**
     * Records before this position are clean, or queued, or became dirty after they were passed.
     */
    private long cleanedTo;

    /** Of the ring at the end of a replay. */
    private long enlargedEnd;

    /**
     * @param partOfBudget see {@link StoreTuning#hotTierPart}
     */
    HotEntries(PageStore pages, RedoLog redo, int partOfBudget) {
        this.pages = pages;
        this.redo = redo;
        this.partOfBudget = partOfBudget;
        admission = new HotAdmission(pages);
    }

    void register(HotHome home) {
        home.id = homes.size();
        homes.add(home);
    }

    // ---------------------------------------------------------------- for each operation

    /** Begins an operation: makes room for its records. Passes safepoints. */
    void prepare() {
        pages.checkUsable();
        if (pages.reserves().pressure() != seenPressure) {
            fitShare();
        }
        HotLog ring = log;
        while (ring != null && !ring.hasRoom(RECORDS_MAX, HotRecord.BYTES_MAX)) {
            giveUpOldest(ring);
        }
        if (isCleaning && ring != null) {
            clean(ring);
        }
    }

    /** The record of a key, or 0; one that was about to leave stays. */
    long find(HotHome home, StateKey key) {
        HotRegion present = region;
        if (present == null || home.records == 0) {
            return 0;
        }
        long record = home.latest;
        if (record == 0 || !HotRecord.isOf(record, home.id, key)) {
            record = present.index.find(home.id, key);
        }
        if (record != 0 && present.log.isOld(record)) {
            record = renew(present, record);
        }
        home.latest = record;
        return record;
    }

    private long renew(HotRegion present, long old) {
        long record = present.renew(old);
        moved(old, record);
        return record;
    }

    private void moved(long from, long to) {
        HotHome home = homes.get(HotRecord.home(from));
        if (home.latest == from) {
            home.latest = to;
        }
        HotRecord.setFlags(from, HotRecord.DEAD);
        if (HotRecord.isQueued(from)) {
            HotRecord.setQueued(from, false);
            enqueue(to);
        }
    }

    /** As {@link #find}, and counts towards the decision whether the tier helps. */
    long findForRead(HotHome home, StateKey key) {
        long record = find(home, key);
        admission.read(record != 0);
        return record;
    }

    /** Whether a key without a record should get one. */
    boolean admits(StateKey key, int valueBytes) {
        return fits(key, valueBytes) && (admission.takes() || isReplaying);
    }

    private boolean fits(StateKey key, int valueBytes) {
        return log != null
                && key.length() <= HotRecord.KEY_BYTES_MAX
                && valueBytes <= HotRecord.VALUE_BYTES_MAX;
    }

    /** As {@link #admits}, for entries that are read and then written. */
    boolean admitsAgain(HotHome home, StateKey key, int valueBytes) {
        HotRegion present = region;
        return present != null
                && fits(key, valueBytes)
                && (isReplaying
                        || admission.takesAgain(
                                present.doorkeeper, HotIndex.mix(home.id, key.hash())));
    }

    /** A new record for a key that has none and is admitted; with room for the value, but empty. */
    long insert(HotHome home, StateKey key, int flags, int valueBytes) {
        int capacity = Math.max(8, Math.max(valueBytes, home.usualValueBytes));
        long record = present().insert(home.id, key, flags, capacity);
        home.records++;
        home.latest = record;
        return record;
    }

    /** The same record with room for a value of {@code valueBytes}, which must be admissible. */
    long grow(HotHome home, StateKey key, long record, int valueBytes) {
        if (HotRecord.capacity(record) >= valueBytes) {
            return record;
        }
        int capacity =
                Math.min(HotRecord.VALUE_BYTES_MAX, Math.max(valueBytes, valueBytes * 3 / 2));
        long grown = present().grow(home.id, key, record, capacity);
        moved(record, grown);
        return grown;
    }

    /** To be called behind each change of a record: says what it is from now on, in flags. */
    void changed(long record, int flags) {
        if (isReplaying) {
            setFlags(record, flags | HotRecord.LOGGED | HotRecord.STORED);
            HotRecord.setLoggedBytes(record, HotRecord.valueLength(record));
            return;
        }
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
        present().index.remove(record);
        setFlags(record, HotRecord.DEAD);
        home.records--;
        if (home.latest == record) {
            home.latest = 0;
        }
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

    private HotRegion present() {
        if (region == null) {
            throw new IllegalStateException("the hot tier has no memory");
        }
        return region;
    }

    // ---------------------------------------------------------------- all entries

    /** Writes home everything that is dirty; clean copies stay. Passes safepoints. */
    void settle() {
        isCleaning = false;
        HotLog ring = log;
        if (ring != null && !ring.isEmpty()) {
            settleQueued(ring, 0);
            for (long record = ring.oldest();
                    record != 0 && dirty > 0;
                    record = ring.after(record)) {
                settle(record);
            }
        }
        if (isEnlarged) {
            free();
            seenPressure = NEVER_SEEN;
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
        admission.scanned();
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
        HotLog ring = present().log;
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

    /**
     * Tells the redo log all that it has not heard of. It writes nothing home: the pages may be on
     * disk, and a checkpoint waits for this.
     */
    void logChanges() {
        HotLog ring = log;
        if (ring != null && isCleaning && !pages.isArriving()) {
            queue.forEach(position -> logIfDirty(queued(ring, position))); // to go home yet
        } else if (ring != null) {
            while (queue.size() > 0) {
                logOldest(ring);
            }
        }
    }

    private void enqueue(long record) {
        HotLog ring = present().log;
        while (queue.isFull()) {
            logOldest(ring);
        }
        queue.add(ring.position(record), HotRecord.bytes(record));
        HotRecord.setQueued(record, true);
    }

    private void logOldest(HotLog ring) {
        logIfDirty(dequeue(ring));
    }

    /**
     * @param record or 0
     */
    private void logIfDirty(long record) {
        if (record != 0 && HotRecord.has(record, HotRecord.DIRTY)) {
            log(homes.get(HotRecord.home(record)), record);
        }
    }

    /** The oldest of the queue, or 0 if it is no longer what was queued. */
    private long dequeue(HotLog ring) {
        long record = queued(ring, queue.removeOldest());
        if (record != 0) {
            HotRecord.setQueued(record, false);
        }
        return record;
    }

    private static long queued(HotLog ring, long position) {
        long record = ring.at(position);
        return record != 0 && HotRecord.isQueued(record) ? record : 0;
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

    /** From now on keeps few records dirty, until {@link #settle}; or does so no longer. */
    void expectSnapshot(boolean expected) {
        HotLog ring = log;
        if (ring != null && expected && !isCleaning) {
            cleanedTo = ring.firstPosition();
        }
        isCleaning = ring != null && (expected || isEnlarged);
    }

    /** Whether {@link #settle} has little to do, as what is dirty was queued since. */
    boolean isPrepared() {
        return dirty <= 2 * QUEUED_WHILE_CLEANING_MAX;
    }

    /** Passes safepoints. Not while it would have to fetch pages from far away. */
    private void clean(HotLog ring) {
        if (pages.isArriving()) {
            return;
        }
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
        if (isEnlarged && (dirty == 0 || cleanedTo >= enlargedEnd)) {
            settle();
        }
    }

    // ---------------------------------------------------------------- replay of a redo log

    /**
     * The changes from now on are those of a log that made them all before.
     *
     * @param bytes about the length of the log
     */
    void beginReplay(long bytes) {
        isReplaying = true;
        long wanted = Math.min(ENLARGED_PER_LOG_BYTE * bytes, ENLARGED_BYTES_MAX);
        long fitting = Math.min(wanted, enlargedBytesMax());
        if (log == null && fitting > Math.max(BYTES_MIN, fittingBytes())) {
            takeEnlarged(fitting);
        }
    }

    /**
     * With a spare: when other stores join, the region may be more than the share, and the
     * operations until it is given back need memory too.
     */
    private void takeEnlarged(long bytes) {
        take(bytes, PART_OF_SHARE_ENLARGED);
        isEnlarged = region != null;
        if (isEnlarged && !pages.reserves().keepSpare(SPARE_BYTES)) {
            free();
        }
    }

    /** What was replayed goes home in the operations to come. */
    void endReplay() {
        isReplaying = false;
        admission.startAgain();
        HotLog ring = log;
        if (ring != null && isEnlarged) {
            enlargedEnd = ring.endPosition();
            expectSnapshot(true);
            if (ring.isEmpty()) {
                settle(); // nobody else would give the memory back
            }
        }
    }

    boolean isReplaying() {
        return isReplaying;
    }

    // ---------------------------------------------------------------- memory

    /** Takes memory if there is none, or less if the share has become small; passes safepoints. */
    void fitShare() {
        seenPressure = pages.reserves().pressure();
        giveBack();
        long fitting = fittingBytes();
        if (region == null && fitting >= BYTES_MIN) {
            take(fitting, partOfBudget / 2);
        }
    }

    /** Gives all memory back if the share has become too small for it; passes safepoints. */
    void giveBack() {
        HotRegion present = region;
        long most = isEnlarged ? enlargedBytesMax() : fittingBytes();
        if (present != null && present.bytes() > most) {
            release();
        }
    }

    private long fittingBytes() {
        long parts =
                Math.min(pages.budgetBytes() / partOfBudget, pages.shareBytes() * 2 / partOfBudget);
        return Math.min(BYTES_MAX, parts);
    }

    /** Leaves the pages what a store needs at least, and as much again. */
    private long enlargedBytesMax() {
        long share = pages.shareBytes();
        return Math.min(share / PART_OF_SHARE_ENLARGED, share - 2 * PageStore.MIN_SHARE_BYTES);
    }

    private void take(long bytes, int partOfShare) {
        HotRegion taken = HotRegion.take(pages, bytes, partOfShare);
        if (taken != null) {
            region = taken;
            log = taken.log;
        }
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
        HotRegion present = region;
        if (present != null) {
            present.free(pages);
            region = null;
            log = null;
            homes.forEach(
                    home -> {
                        home.records = 0;
                        home.latest = 0;
                    });
            queue.clear();
            dirty = 0;
            isCleaning = false;
            isEnlarged = false;
            pages.reserves().dropSpare();
        }
    }
}
