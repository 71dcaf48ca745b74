package io.afterbay.store.page;

import java.io.DataInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The page table of an image on its way into an empty store, in the format of {@link PageImage}. A
 * job waits for it when it is restored, and it is as long as the state, so it is read in chunks.
 */
final class LoadedTable {
    private static final int CHUNK_ENTRIES = 1 << 12;

    private final PageStore pages;
    private final Map<Integer, long[]> liveBytes = new HashMap<>();
    private final List<Integer> unused = new ArrayList<>();

    LoadedTable(PageStore pages) {
        this.pages = pages;
    }

    /** Lock held. */
    void read(DataInput index) throws IOException {
        byte[] chunk = new byte[CHUNK_ENTRIES * Long.BYTES];
        int left = index.readInt();
        while (left > 0) {
            int count = Math.min(left, CHUNK_ENTRIES);
            index.readFully(chunk, 0, count * Long.BYTES);
            add(ByteBuffer.wrap(chunk), count);
            left -= count;
        }
        unused.forEach(pages.table::free);
    }

    private void add(ByteBuffer entries, int count) {
        for (int i = 0; i < count; i++) {
            int pageId = pages.allocateEntry();
            long location = entries.getLong();
            if (location == 0) {
                unused.add(pageId);
            } else {
                pages.table.set(pageId, location);
                liveBytes.computeIfAbsent(Location.segment(location), segment -> new long[1])[0] +=
                        Location.blockBytes(location);
            }
        }
    }

    /**
     * What pages have in a segment, which is then taken as known.
     *
     * @return 0 for none
     */
    long takeLiveBytes(int segment) {
        long[] bytes = liveBytes.remove(segment);
        return bytes == null ? 0 : bytes[0];
    }

    /** With pages, and not taken. */
    Set<Integer> segmentsLeft() {
        return liveBytes.keySet();
    }
}
