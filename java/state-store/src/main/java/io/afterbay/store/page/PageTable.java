package io.afterbay.store.page;

import java.util.Arrays;

/**
 * Page id to entry (see {@link Location}); off-heap, in chunks. Free ids form a list inside the
 * table. Id 0 is never given out.
 */
final class PageTable {
    private static final int CHUNK_BITS = 9;
    private static final int CHUNK_ENTRIES = 1 << CHUNK_BITS;
    static final int CHUNK_BYTES = CHUNK_ENTRIES * Long.BYTES;

    private long[] chunks = new long[16];
    private int chunkCount;
    private int firstFree;
    private int next = 1;

    long get(int pageId) {
        return Memory.getLong(at(pageId));
    }

    void set(int pageId, long entry) {
        Memory.putLong(at(pageId), entry);
    }

    private long at(int pageId) {
        return chunks[pageId >>> CHUNK_BITS] + (long) (pageId & CHUNK_ENTRIES - 1) * Long.BYTES;
    }

    int allocate() {
        int pageId = firstFree;
        if (pageId != 0) {
            firstFree = Location.nextFree(get(pageId));
            return pageId;
        }
        if (next == chunkCount << CHUNK_BITS || chunkCount == 0) {
            addChunk();
        }
        return next++;
    }

    private void addChunk() {
        if (chunkCount == chunks.length) {
            chunks = Arrays.copyOf(chunks, chunkCount * 2);
        }
        long chunk = Memory.allocate(CHUNK_BYTES);
        Memory.zero(chunk, CHUNK_BYTES);
        chunks[chunkCount++] = chunk;
    }

    void free(int pageId) {
        set(pageId, Location.free(firstFree));
        firstFree = pageId;
    }

    long memoryBytes() {
        return (long) chunkCount * CHUNK_BYTES;
    }

    /** Ids that were ever given out are below this. */
    int limit() {
        return next;
    }

    void close() {
        for (int i = 0; i < chunkCount; i++) {
            Memory.free(chunks[i], CHUNK_BYTES);
        }
        chunkCount = 0;
        next = 1;
        firstFree = 0;
    }
}
