package io.afterbay.store.page;

import io.afterbay.store.ImageFiles;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreStats;
import java.io.DataInput;
import java.io.IOException;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Pages in a bounded amount of memory, the rest in a log on disk.
 *
 * <pre>
 *               page table (page id to address or location)
 *                |                             |
 *   memory:   frames  <--- fault, evict --->  segment log  :disk
 *                |  first change after freeze()
 *                v
 *             preserved images, one map per snapshot
 * </pre>
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Addresses stay valid until the owner's next {@link #safepoint}, {@link #free} or {@link
 *       #resize} of that page: nothing is evicted inside an operation. A safepoint makes room for
 *       one operation ({@link PageMemory}).
 *   <li>A page is changed only after {@link #modify}, which preserves its image for every open
 *       snapshot that needs it. A snapshot reads its own preserved image, or the live page, which
 *       then has not changed since.
 *   <li>Only the owner makes pages resident or evicts them, or {@link ReadAhead} while it waits;
 *       compaction and images move pages on disk, and everybody changes the page table under the
 *       log's lock. So the owner may look up resident pages without it.
 * </ul>
 */
public final class PageStore implements PageSource {
    /** Stream of small pages that are read at random. */
    public static final int TREE_STREAM = SegmentLog.TREE_STREAM;

    /** Stream of pages that are written once and read from front to back. */
    public static final int CHAIN_STREAM = SegmentLog.CHAIN_STREAM;

    /** Of pages that hold something of all. */
    public static final int ALL_KEY_GROUPS = -1;

    /** The least share of the budget with which a store works. */
    public static final long MIN_SHARE_BYTES = 1 << 20;

    /** No page of entries should be larger. */
    public static final int ENTRY_PAGE_BYTES_MAX = 4 << 10;

    private final StoreOptions options;
    private final MemoryBudget budget;
    private final SegmentFiles files;
    final PageTable table = new PageTable();
    final Slices slices;
    final SegmentLog log;
    final ReentrantLock lock;
    final Snapshots snapshots;
    final Compactor compactor;
    private final ReadAhead readAhead;
    private final PageMemory memory;
    private final Reserves reserves;
    private final PageSizing sizing;
    private final long scratch;

    private long epoch = 1;
    private long moves;
    private boolean closed;
    private long pageFaults;

    public PageStore(StoreOptions options) {
        this.options = options;
        budget = options.budget();
        slices = new Slices(options.firstKeyGroup(), options.lastKeyGroup());
        memory = new PageMemory(this, options);
        files = new SegmentFiles(options.files(), options.directory());
        log = new SegmentLog(files, options.background(), segmentBytes(), options.compression());
        lock = log.lock;
        snapshots = new Snapshots(this);
        compactor = new Compactor(this, options, segmentBytes());
        readAhead = new ReadAhead(this, options.reads());
        reserves = new Reserves(this, memory, budget);
        sizing = new PageSizing(budget, table);
        try {
            files.createDirectory();
        } catch (StateStoreException e) {
            memory.leave();
            throw e;
        }
        scratch = Memory.allocate(PageSize.LARGEST_BYTES);
        memory.use(PageSize.LARGEST_BYTES); // granted by the first safepoint
    }

    private long segmentBytes() {
        return clamp(budget.totalBytes() / 8, 1 << 20, 64 << 20);
    }

    private static long clamp(long value, long least, long most) {
        return Math.max(least, Math.min(most, value));
    }

    // ---------------------------------------------------------------- reading and changing

    /** The address of a page's bytes, read from disk if need be. */
    public long address(int pageId) {
        long entry = table.get(pageId);
        if (Location.isResident(entry)) {
            Frame.reference(entry);
            return entry;
        }
        return fault(pageId, true);
    }

    /**
     * As {@link #address}; 0 if that needs memory which an operation may need. Also for threads on
     * whose behalf the owner waits.
     */
    long addressIfRoom(int pageId) {
        return fault(pageId, false);
    }

    /** Whether a page is in memory. */
    public boolean isResident(int pageId) {
        return Location.isResident(table.get(pageId));
    }

    @Override
    public long address(int pageId, int slot) {
        return address(pageId);
    }

    @Override
    public long moves() {
        return moves + memory.pagesEvicted();
    }

    @Override
    public void passSafepoint() {
        safepoint();
    }

    /**
     * @param must whether the headroom may be used for it; else 0 is returned if there is no room
     */
    private long fault(int pageId, boolean must) {
        lock.lock();
        try {
            long location = table.get(pageId);
            if (Location.isResident(location)) {
                return location;
            }
            int bytes = Location.pageBytes(location);
            if (!must && !memory.hasRoom(Frame.cost(bytes))) {
                return 0;
            }
            long frame = newFrame(pageId, bytes, SegmentLog.TREE_STREAM);
            boolean read = false;
            try {
                readInto(frame, pageId, location);
                read = true;
            } finally {
                if (!read) {
                    discard(frame);
                }
            }
            // Compaction may have moved the image meanwhile, another thread may have read it.
            long now = table.get(pageId);
            if (Location.isResident(now)) {
                discard(frame);
                return now;
            }
            Frame.setDisk(frame, now);
            table.set(pageId, frame);
            memory.add(pageId, frame);
            if (must) {
                pageFaults++;
            } else {
                Frame.setReadAhead(frame);
                readAhead.pageRead();
            }
            return frame;
        } finally {
            lock.unlock();
        }
    }

    /** Lets go of the lock during the read. */
    private void readInto(long frame, int pageId, long location) {
        log.pin(location);
        lock.unlock();
        try {
            log.read(location, pageId, frame);
        } finally {
            lock.lock();
            log.unpin(location);
        }
    }

    /** The address of a page that the caller is about to change. */
    public long modify(int pageId) {
        long frame = address(pageId);
        if (Frame.stamp(frame) != epoch) {
            prepareChange(pageId, frame);
        }
        return frame;
    }

    private void prepareChange(int pageId, long frame) {
        lock.lock();
        try {
            snapshots.preserve(pageId, frame);
            forgetDisk(frame);
            Frame.setStamp(frame, epoch);
        } finally {
            lock.unlock();
        }
    }

    private void forgetDisk(long frame) {
        long location = Frame.disk(frame);
        if (location != 0) {
            log.release(location);
            Frame.setDisk(frame, 0);
        }
    }

    /**
     * A new page of that size, all zero.
     *
     * @param keyGroup of what it will hold, the first of several, or {@link #ALL_KEY_GROUPS}: pages
     *     of neighbours are kept together on disk
     */
    public int allocate(int pageBytes, int stream, int keyGroup) {
        return allocateIn(slices.of(keyGroup), pageBytes, stream);
    }

    /** As {@link #allocate}, for the key group of another page. */
    public int allocateBeside(int neighbour, int pageBytes, int stream) {
        return allocateIn(table.slice(neighbour), pageBytes, stream);
    }

    private int allocateIn(int slice, int pageBytes, int stream) {
        lock.lock();
        try {
            long before = table.memoryBytes();
            int pageId = table.allocate(slice);
            memory.use(table.memoryBytes() - before);
            long frame = newFrame(pageId, pageBytes, stream);
            Memory.zero(frame, pageBytes);
            Frame.setStamp(frame, epoch);
            table.set(pageId, frame);
            memory.add(pageId, frame);
            return pageId;
        } finally {
            lock.unlock();
        }
    }

    /** Gives a page another size and keeps its first bytes; returns the new address. */
    public long resize(int pageId, int pageBytes) {
        long old = modify(pageId);
        lock.lock();
        try {
            long frame = newFrame(pageId, pageBytes, Frame.stream(old));
            Memory.zero(frame, pageBytes);
            Memory.copy(old, frame, Math.min(pageBytes, Frame.bytes(old)));
            Frame.setStamp(frame, epoch);
            memory.remove(old);
            table.set(pageId, frame);
            memory.add(pageId, frame);
            discard(old);
            moves++;
            return frame;
        } finally {
            lock.unlock();
        }
    }

    /** Says that a page in memory will not be needed soon: it leaves before others. */
    public void evictSoon(int pageId) {
        long entry = table.get(pageId);
        if (Location.isResident(entry)) {
            Frame.clearReferenced(entry);
        }
    }

    /** Memory of the largest page's size for the owner's use inside one operation. */
    public long scratch() {
        return scratch;
    }

    /** Size of a page that is in memory, by its address. */
    public static int pageBytes(long address) {
        return Frame.bytes(address);
    }

    public void free(int pageId) {
        lock.lock();
        try {
            long entry = table.get(pageId);
            if (Location.isResident(entry)) {
                freeResident(pageId, entry);
            } else {
                snapshots.preserveLocation(pageId, entry);
                log.release(entry);
            }
            table.free(pageId);
            moves++;
        } finally {
            lock.unlock();
        }
    }

    private void freeResident(int pageId, long frame) {
        memory.remove(frame);
        boolean given = snapshots.preserveByGiving(pageId, frame);
        forgetDisk(frame);
        if (!given) {
            discard(frame);
        }
    }

    /** Lock held. */
    long newFrame(int pageId, int pageBytes, int stream) {
        memory.charge(Frame.cost(pageBytes));
        return Frame.allocate(pageId, pageBytes, stream);
    }

    /** Frees a frame that is in no table. Lock held. */
    void discard(long frame) {
        memory.refund(Frame.cost(Frame.bytes(frame)));
        Frame.free(frame);
    }

    /** Accounts for memory of a snapshot's reader. Lock held. */
    void chargeReader(long bytes) {
        memory.chargeReader(bytes);
    }

    /** Lock held. */
    void refund(long bytes) {
        memory.refund(bytes);
    }

    // ---------------------------------------------------------------- memory

    /** Of all stores that share it. */
    public long budgetBytes() {
        return budget.totalBytes();
    }

    /** This store's part of the budget now; it gets smaller when more stores join. */
    public long shareBytes() {
        return budget.shareBytes();
    }

    /** The size to which a page of entries that are read at random should grow. */
    public int entryPageBytes() {
        return sizing.entryPageBytes();
    }

    /**
     * The size of pages at the ends of lists. Each list is appended to at its own time, and a page
     * at its end that is not in memory then has to be read, and written as a whole once more; so
     * they are small enough that the ends of all lists have a quarter of the share together. Not
     * smaller, though, than the page table permits, which stays in memory.
     *
     * @param lists how many lists there are
     */
    public int listPageBytes(long lists) {
        return sizing.listPageBytes(lists);
    }

    /** Of what the owner will need soon. */
    public ReadAhead readAhead() {
        return readAhead;
    }

    /** Memory of the owner beside the pages. */
    public Reserves reserves() {
        return reserves;
    }

    /** Reads of the owner that had to go to the log. */
    public long pageFaults() {
        return pageFaults;
    }

    /**
     * Between two operations of the owner: evicts pages until there is room for so many bytes of
     * others; false if that is not enough. All addresses got before are invalid after.
     */
    boolean makeRoomFor(long bytes) {
        lock.lock();
        try {
            checkOpen();
            log.check();
            return memory.tryMakeRoom(bytes);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Between two operations of the owner: makes room for the next one, evicting pages if need be.
     * All addresses got before are invalid after.
     */
    public void safepoint() {
        checkUsable();
        if (memory.isShort()) {
            makeRoom();
        }
    }

    private void makeRoom() {
        lock.lock();
        try {
            checkOpen();
            memory.makeRoom();
            compactor.startIfNeeded();
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- snapshots, life cycle

    /** Freezes all pages as they are now. */
    public PageSnapshot freeze() {
        lock.lock();
        try {
            checkOpen();
            log.check();
            PageSnapshot snapshot = snapshots.open(epoch);
            epoch++;
            boolean ready = false;
            try {
                makeRoom();
                ready = true;
            } finally {
                if (!ready) {
                    snapshots.close(snapshot);
                }
            }
            return snapshot;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes over the pages of an image, before anything else is done with the store.
     *
     * @param index what {@link PageImage#write} has written
     * @param hasSlices whether it tells of what key groups pages are, as it did not always
     */
    public void load(DataInput index, boolean hasSlices, ImageFiles image) throws IOException {
        lock.lock();
        try {
            new ImageLoading(this, image).load(index, hasSlices);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Where pages lie that are on disk and may have entries of these key groups: by the number of
     * the file, its chunks of that size.
     */
    public Map<Integer, BitSet> chunksOf(int firstKeyGroup, int lastKeyGroup, int chunkBytes) {
        Map<Integer, BitSet> chunks = new HashMap<>();
        lock.lock();
        try {
            for (int pageId = 1; pageId < table.limit(); pageId++) {
                long location = table.diskLocation(pageId);
                if (location != 0
                        && slices.isOf(table.slice(pageId), firstKeyGroup, lastKeyGroup)) {
                    long end = Location.offset(location) + Location.blockBytes(location);
                    chunks.computeIfAbsent(Location.segment(location), none -> new BitSet())
                            .set(
                                    (int) (Location.offset(location) / chunkBytes),
                                    (int) ((end + chunkBytes - 1) / chunkBytes));
                }
            }
        } finally {
            lock.unlock();
        }
        return chunks;
    }

    /**
     * An entry of the page table. An operation of its own: stores that were there first may hold
     * all memory of the budget, and have to be asked for it. Lock held.
     *
     * @param slice of the page
     */
    int allocateEntry(int slice) {
        safepoint();
        long before = table.memoryBytes();
        int pageId = table.allocate(slice);
        memory.charge(table.memoryBytes() - before);
        return pageId;
    }

    /** Throws if the store is closed or has failed. */
    public void checkUsable() {
        if (closed) {
            checkOpen();
        }
        log.check();
    }

    /** Whether files of the image that was opened are still on their way: reads may take long. */
    public boolean isArriving() {
        return log.isArriving();
    }

    /** Whether a file operation has failed. */
    public boolean hasFailed() {
        return log.hasFailed();
    }

    /** Throws if the store is closed. */
    public void checkOpen() {
        if (closed) {
            throw new IllegalStateException("store " + options.name() + " is closed");
        }
    }

    /** Lock held, or by the owner. */
    boolean isClosed() {
        return closed;
    }

    public StoreStats stats() {
        lock.lock();
        try {
            return new StoreStats(
                    memory.usedBytes(),
                    budget.shareBytes(),
                    log.liveBytes(),
                    log.fileBytes(),
                    log.writtenBytes,
                    log.readBytes,
                    compactor.relocatedBytes(),
                    log.copiedBytes,
                    log.settledBytes,
                    pageFaults,
                    readAhead.pagesRead(),
                    readAhead.pagesUnused(),
                    memory.evictions(),
                    log.stalls,
                    log.stallNanos,
                    compactor.stalls,
                    compactor.stallNanos);
        } finally {
            lock.unlock();
        }
    }

    /** Waits for running reads of snapshots and for background work. Idempotent. */
    public void close() {
        lock.lock();
        boolean first = !closed;
        closed = true;
        List<PageSnapshot> open = snapshots.open();
        lock.unlock();
        if (first) {
            open.forEach(PageSnapshot::endReading);
            log.close();
            releaseMemory();
            files.deleteDirectory();
        }
    }

    private void releaseMemory() {
        lock.lock();
        try {
            snapshots.closeAll();
            memory.end();
            table.close();
            Memory.free(scratch, PageSize.LARGEST_BYTES);
        } finally {
            lock.unlock();
        }
    }
}
