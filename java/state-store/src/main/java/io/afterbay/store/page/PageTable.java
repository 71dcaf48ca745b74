package io.afterbay.store.page;

import java.util.Arrays;

/**
 * Page id to entry (see {@link Location}); off-heap, in chunks. Free ids form a list inside the
 * table. Id 0 is never given out.
 */
final class PageTable {
    private static final int CHUNK_BITS = 9;
    private static final int CHUNK_ENTRIES = 1 << CHUNK_BITS;
    private static final int ENTRIES_BYTES = CHUNK_ENTRIES * Long.BYTES;

    /** Behind the entries: a bit for each page, 1 if it is in use. */
    private static final int CHUNK_WORDS = CHUNK_ENTRIES / Long.SIZE;

    private static final int CHUNK_BYTES = ENTRIES_BYTES + CHUNK_WORDS * Long.BYTES;

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
        } else {
            if (next == chunkCount << CHUNK_BITS || chunkCount == 0) {
                addChunk();
            }
            pageId = next++;
        }
        flipUse(pageId);
        return pageId;
    }

    private void flipUse(int pageId) {
        int word = (pageId & CHUNK_ENTRIES - 1) >>> 6;
        long at = chunks[pageId >>> CHUNK_BITS] + ENTRIES_BYTES + (long) word * Long.BYTES;
        Memory.putLong(at, Memory.getLong(at) ^ 1L << pageId);
    }

    /**
     * The pages in use, a bit for each id; see {@link java.util.BitSet#valueOf(long[])}. For each
     * snapshot, too seldom to be compiled: copied a chunk at a time.
     */
    long[] inUse() {
        long[] words = new long[chunkCount * CHUNK_WORDS];
        for (int chunk = 0; chunk < chunkCount; chunk++) {
            Memory.read(chunks[chunk] + ENTRIES_BYTES, words, chunk * CHUNK_WORDS, CHUNK_WORDS);
        }
        return words;
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
        flipUse(pageId);
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
