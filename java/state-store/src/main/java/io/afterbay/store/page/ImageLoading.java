package io.afterbay.store.page;

import io.afterbay.store.ImageFiles;
import java.io.DataInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The index of an image on its way into an empty store, in the format of {@link PageImage}: the
 * page table, and the segments in which pages lie. A job waits for it when it is restored, and the
 * table is as long as the state, so it is read in chunks. The log's lock is held.
 */
final class ImageLoading {
    private static final int CHUNK_ENTRIES = 1 << 12;

    private final PageStore pages;
    private final ImageFiles files;

    /** What pages have in a segment that was not met yet. */
    private final Map<Integer, long[]> liveBytes = new HashMap<>();

    private final List<Integer> unused = new ArrayList<>();

    ImageLoading(PageStore pages, ImageFiles files) {
        this.pages = pages;
        this.files = files;
    }

    /**
     * @param hasSlices whether the index tells of what key groups pages are, as it did not always
     */
    void load(DataInput index, boolean hasSlices) throws IOException {
        loadTable(index, hasSlices);
        loadSegments(index);
    }

    private void loadTable(DataInput index, boolean hasSlices) throws IOException {
        int entryBytes = Long.BYTES + (hasSlices ? 1 : 0);
        byte[] chunk = new byte[CHUNK_ENTRIES * entryBytes];
        int left = index.readInt();
        while (left > 0) {
            int count = Math.min(left, CHUNK_ENTRIES);
            index.readFully(chunk, 0, count * entryBytes);
            add(ByteBuffer.wrap(chunk), count, hasSlices);
            left -= count;
        }
        unused.forEach(pages.table::free);
    }

    private void add(ByteBuffer entries, int count, boolean hasSlices) {
        for (int i = 0; i < count; i++) {
            long location = entries.getLong();
            int slice = hasSlices ? entries.get() & 0xff : Slices.UNKNOWN;
            int pageId = pages.allocateEntry(slice);
            if (location == 0) {
                unused.add(pageId);
            } else {
                pages.table.set(pageId, location);
                liveBytes.computeIfAbsent(Location.segment(location), segment -> new long[1])[0] +=
                        Location.blockBytes(location);
            }
        }
    }

    private void loadSegments(DataInput index) throws IOException {
        for (int left = index.readInt(); left > 0; left--) {
            int segment = index.readInt();
            long bytes = index.readLong();
            long[] live = liveBytes.remove(segment);
            if (live == null) {
                throw new IOException("no page lies in segment " + segment);
            }
            pages.log.adopt(segment, files.open(segment), bytes, live[0]);
        }
        if (!liveBytes.isEmpty()) {
            throw new IOException("pages lie in the missing segments " + liveBytes.keySet());
        }
    }
}
