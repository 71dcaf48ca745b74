package io.afterbay.store.page;

import io.afterbay.store.StoreImage;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All pages of a snapshot in segment files: sealed segments as they are, and what is in memory, or
 * in a segment that still grows, in new ones. These belong to the log like all others from then on:
 * what is copied there of a page that has not changed since is its place on disk ({@link
 * CopiedPages}).
 *
 * <p>First what has to be copied is, slice by slice ({@link CopyOrder}), so that whoever needs a
 * part of the key groups reads a part of the files. Then the index is written, in the order of page
 * ids; what has lost its place meanwhile, since compaction is moving it, is copied then.
 *
 * <pre>
 *   index:  number of pages 4 | for each: location 8 (0: not in use), slice 1 |
 *           number of segments 4 | for each: its number 4, bytes 8
 * </pre>
 *
 * <p>Written by one thread, any, while the owner works on. The snapshot is used up by it: of a page
 * that is in the image, nothing is preserved any more.
 */
public final class PageImage implements StoreImage {
    private static final int BUFFER_BYTES = 64 << 10;

    /** Pages that are looked at in one piece, which keeps the owner out. */
    private static final int STEP_PAGES = 256;

    private final PageSnapshot snapshot;
    private final PageStore pages;
    private final SegmentLog log;
    private final Map<Integer, Segment> segments = new HashMap<>(); // looked up for each page
    private final WriteBuffer buffer;

    /** What is in the buffer. */
    private final CopiedPages copied;

    /** The one that is being written. */
    private @Nullable Segment own;

    private boolean closed;

    private PageImage(PageSnapshot snapshot) {
        this.snapshot = snapshot;
        pages = snapshot.pages;
        log = pages.log;
        copied = new CopiedPages(snapshot);
        pages.lock.lock();
        try {
            snapshot.useUp();
            pages.chargeReader(BUFFER_BYTES);
            buffer = new WriteBuffer(BUFFER_BYTES, new Segment(0, Path.of("")));
        } finally {
            pages.lock.unlock();
        }
    }

    /**
     * Writes files and index.
     *
     * @throws IOException if a file or the index cannot be written; the store goes on
     */
    public static PageImage write(PageSnapshot snapshot, DataOutput index) throws IOException {
        PageImage image = new PageImage(snapshot);
        boolean written = false;
        try {
            image.writeTable(image.copyInOrder(), index);
            image.writeSegments(index);
            written = true;
            return image;
        } finally {
            image.freeBuffer();
            if (!written) {
                image.close();
            }
        }
    }

    // ---------------------------------------------------------------- copies, slice by slice

    private CopyOrder copyInOrder() throws IOException {
        CopyOrder copies = new CopyOrder();
        int pageId = 0;
        while ((pageId = snapshot.inUse.nextSetBit(pageId + 1)) > 0) {
            pageId = findWithoutPlace(pageId, copies);
        }
        copies.sort();
        for (int next = copies.next(); next != 0; next = copies.next()) {
            copyUnlessPlaced(next, copies);
        }
        flushOwn();
        return copies;
    }

    /** Of the pages from one on; returns the last that was looked at. */
    private int findWithoutPlace(int first, CopyOrder copies) {
        snapshot.reading.lock();
        pages.lock.lock();
        try {
            snapshot.checkOpen();
            int pageId = first;
            for (int i = 1; ; i++) {
                if (!isPlace(location(pageId))) {
                    copies.add(pageId, pages.table.slice(pageId));
                }
                int next = snapshot.inUse.nextSetBit(pageId + 1);
                if (next < 0 || i == STEP_PAGES) {
                    return pageId;
                }
                pageId = next;
            }
        } finally {
            pages.lock.unlock();
            snapshot.reading.unlock();
        }
    }

    /** Where a page lies in the log; 0 if it does not. Lock held. */
    private long location(int pageId) {
        long entry = snapshot.entry(pageId);
        return Location.isResident(entry) ? Frame.disk(entry) : entry;
    }

    /** Whether the file of a location does not change any more. Lock held. */
    private boolean isPlace(long location) {
        return location != 0 && isComplete(log.segment(location));
    }

    private static boolean isComplete(Segment segment) {
        return segment.sealed && segment.unflushed.isEmpty();
    }

    private void copyUnlessPlaced(int pageId, CopyOrder copies) throws IOException {
        snapshot.reading.lock(); // until the end of a write: the store must not close meanwhile
        try {
            snapshot.checkOpen();
            if (!hasPlace(pageId)) {
                copies.copied(copy(pageId));
            }
        } finally {
            snapshot.reading.unlock();
        }
    }

    private boolean hasPlace(int pageId) {
        pages.lock.lock();
        try {
            log.check(); // a segment that could not be written looks complete
            return isPlace(location(pageId));
        } finally {
            pages.lock.unlock();
        }
    }

    private void flushOwn() throws IOException {
        snapshot.reading.lock();
        try {
            snapshot.checkOpen();
            if (own != null) {
                flush(own);
            }
        } finally {
            snapshot.reading.unlock();
        }
    }

    // ---------------------------------------------------------------- the index

    private void writeTable(CopyOrder copies, DataOutput index) throws IOException {
        int count = Math.max(0, snapshot.inUse.length() - 1); // there is no page 0
        index.writeInt(count);
        byte[] slices = new byte[STEP_PAGES];
        for (int pageId = 1; pageId <= count; pageId++) {
            int step = (pageId - 1) % STEP_PAGES;
            if (step == 0) {
                readSlices(pageId, Math.min(STEP_PAGES, count + 1 - pageId), slices);
            }
            long copied = copies.locationOf(pageId);
            boolean isInUse = snapshot.inUse.get(pageId);
            index.writeLong(copied != 0 || !isInUse ? copied : place(pageId));
            index.writeByte(isInUse ? slices[step] : Slices.UNKNOWN);
        }
        snapshot.reading.lock();
        try {
            snapshot.checkOpen();
            endSegment();
            snapshot.passAll();
        } finally {
            snapshot.reading.unlock();
        }
    }

    private void readSlices(int first, int count, byte[] slices) {
        snapshot.reading.lock();
        try {
            snapshot.checkOpen();
            pages.lock.lock();
            for (int i = 0; i < count; i++) {
                slices[i] = (byte) pages.table.slice(first + i);
            }
            pages.lock.unlock();
        } finally {
            snapshot.reading.unlock();
        }
    }

    private void writeSegments(DataOutput index) throws IOException {
        index.writeInt(segments.size());
        for (Segment segment : inOrder()) {
            index.writeInt(segment.id);
            index.writeLong(segment.end);
        }
    }

    private List<Segment> inOrder() {
        return segments.values().stream().sorted(Comparator.comparingInt(s -> s.id)).toList();
    }

    /** Where the image of a page is, or has been put. */
    private long place(int pageId) throws IOException {
        snapshot.reading.lock(); // until the end of a write: the store must not close meanwhile
        try {
            snapshot.checkOpen();
            long found = find(pageId);
            return found != 0 ? found : copy(pageId);
        } finally {
            snapshot.reading.unlock();
        }
    }

    /** The location of a page, if its segment can be part of the image; else 0. */
    private long find(int pageId) {
        pages.lock.lock();
        try {
            log.check(); // a segment that could not be written looks complete
            long location = location(pageId);
            boolean isFound = location != 0 && refersTo(log.segment(location));
            if (isFound && copied.isEmpty()) {
                snapshot.passUpTo(pageId);
            }
            return isFound ? location : 0;
        } finally {
            pages.lock.unlock();
        }
    }

    /** Makes a segment part of the image, if it does not change any more. Lock held. */
    private boolean refersTo(Segment segment) {
        boolean complete = isComplete(segment);
        if (complete && segments.putIfAbsent(segment.id, segment) == null) {
            log.pinSegment(segment);
        }
        return complete;
    }

    // ---------------------------------------------------------------- segments of its own

    private long copy(int pageId) throws IOException {
        long page = snapshot.address(pageId, PageSource.CHAIN_SLOT);
        int pageBytes = snapshot.bytes(PageSource.CHAIN_SLOT);
        PageCodec codec = PageCodec.get();
        codec.encode(page, pageBytes, log.compression);
        Segment target = own;
        if (target == null) {
            target = beginSegment();
        } else if (!buffer.fits(codec.blockBytes())) {
            flush(target);
            if (target.end >= log.segmentBytes) {
                endSegment();
                target = beginSegment();
            }
        }
        long offset = buffer.offset + buffer.used;
        codec.write(buffer.end(), pageId);
        buffer.used += codec.blockBytes();
        long location = Location.of(target.id, offset, pageBytes, codec.roomBytes());
        copied.add(pageId, location);
        return location;
    }

    private Segment beginSegment() {
        pages.lock.lock();
        try {
            Segment segment = log.newSegment();
            log.pinSegment(segment);
            segments.put(segment.id, segment);
            own = segment;
            buffer.offset = segment.end;
            buffer.used = 0;
            return segment;
        } finally {
            pages.lock.unlock();
        }
    }

    private void flush(Segment segment) throws IOException {
        log.write(segment, buffer);
        pages.lock.lock();
        try {
            log.grown(segment, buffer.used);
            copied.written();
        } finally {
            pages.lock.unlock();
        }
        buffer.offset = segment.end;
        buffer.used = 0;
    }

    private void endSegment() throws IOException {
        Segment segment = own;
        if (segment != null) {
            flush(segment);
            pages.lock.lock();
            log.seal(segment);
            pages.lock.unlock();
            own = null;
        }
    }

    @Override
    public List<File> files() {
        return inOrder().stream().map(s -> new File(s.id, s.path, s.end)).toList();
    }

    private void freeBuffer() {
        pages.lock.lock();
        try {
            Memory.free(buffer.address, buffer.capacity);
            pages.refund(buffer.capacity);
        } finally {
            pages.lock.unlock();
        }
    }

    @Override
    public void close() {
        pages.lock.lock();
        try {
            if (!closed && !pages.isClosed()) { // else the store has deleted all files
                for (Segment segment : segments.values()) {
                    if (!segment.sealed) { // the last one, if the image has failed
                        log.seal(segment);
                    }
                    log.unpinSegment(segment);
                }
            }
            closed = true;
        } finally {
            pages.lock.unlock();
        }
    }
}
