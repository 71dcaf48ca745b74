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
 * <pre>
 *   index:  number of pages 4 | location of each page 8 (0: not in use) | number of segments 4 |
 *           for each: its number 4, bytes 8
 * </pre>
 *
 * <p>Written by one thread, any, while the owner works on. The snapshot is used up by it: of a page
 * that is in the image, nothing is preserved any more.
 */
public final class PageImage implements StoreImage {
    private static final int BUFFER_BYTES = 64 << 10;

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
            image.writeTable(index);
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

    private void writeTable(DataOutput index) throws IOException {
        int count = Math.max(0, snapshot.inUse.length() - 1); // there is no page 0
        index.writeInt(count);
        for (int pageId = 1; pageId <= count; pageId++) {
            index.writeLong(snapshot.inUse.get(pageId) ? place(pageId) : 0);
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
            long entry = snapshot.entry(pageId);
            long location = Location.isResident(entry) ? Frame.disk(entry) : entry;
            boolean isFound = location != 0 && refersTo(log.segment(location));
            if (isFound && copied.isEmpty()) {
                snapshot.pass(pageId);
            }
            return isFound ? location : 0;
        } finally {
            pages.lock.unlock();
        }
    }

    /** Makes a segment part of the image, if it does not change any more. Lock held. */
    private boolean refersTo(Segment segment) {
        boolean complete = segment.sealed && segment.unflushed.isEmpty();
        if (complete && segments.putIfAbsent(segment.id, segment) == null) {
            log.pinSegment(segment);
        }
        return complete;
    }

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
                    segment.sealed = true;
                    log.unpinSegment(segment);
                }
            }
            closed = true;
        } finally {
            pages.lock.unlock();
        }
    }
}
