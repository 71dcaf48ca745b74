package io.afterbay.store.page;

import java.util.Arrays;

/**
 * Page id to entry (see {@link Location}) and key groups (see {@link Slices}); off-heap, in chunks,
 * but for a bit each. Free ids form a list inside the table. Id 0 is never given out.
 *
 * <pre>
 *   chunk:  512 entries of 8 bytes | 512 slices of 1 byte
 * </pre>
 */
final class PageTable {
    private static final int CHUNK_BITS = 9;
    private static final int CHUNK_ENTRIES = 1 << CHUNK_BITS;
    private static final int SLICES_AT = CHUNK_ENTRIES * Long.BYTES;
    private static final int CHUNK_BYTES = SLICES_AT + CHUNK_ENTRIES;
    private static final int CHUNK_WORDS = CHUNK_ENTRIES / Long.SIZE;

    private long[] chunks = new long[16];

    /**
     * A bit for each page, 1 if it is in use. In one piece, so that a snapshot, for which a task
     * waits, copies it at the speed of memory.
     */
    private long[] inUse = new long[chunks.length * CHUNK_WORDS];

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

    /** Whose entries the page has: of {@link Slices}. */
    int slice(int pageId) {
        return Memory.getByte(sliceAt(pageId)) & 0xff;
    }

    private long sliceAt(int pageId) {
        return chunks[pageId >>> CHUNK_BITS] + SLICES_AT + (pageId & CHUNK_ENTRIES - 1);
    }

    /**
     * Gives out an id.
     *
     * @param slice of the page
     */
    int allocate(int slice) {
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
        Memory.putByte(sliceAt(pageId), slice);
        return pageId;
    }

    /** Where the page lies on disk, if it does and is not in memory; else 0. */
    long diskLocation(int pageId) {
        long entry = get(pageId);
        boolean isOnDisk = isInUse(pageId) && !Location.isResident(entry);
        return isOnDisk ? entry : 0;
    }

    private boolean isInUse(int pageId) {
        return (inUse[pageId >>> 6] >>> pageId & 1) != 0;
    }

    private void flipUse(int pageId) {
        inUse[pageId >>> 6] ^= 1L << pageId;
    }

    /** The pages in use, a bit for each id; see {@link java.util.BitSet#valueOf(long[])}. */
    long[] inUse() {
        return Arrays.copyOf(inUse, chunkCount * CHUNK_WORDS);
    }

    private void addChunk() {
        if (chunkCount == chunks.length) {
            chunks = Arrays.copyOf(chunks, chunkCount * 2);
            inUse = Arrays.copyOf(inUse, chunks.length * CHUNK_WORDS);
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
        return (long) chunkCount * (CHUNK_BYTES + CHUNK_WORDS * Long.BYTES);
    }

    /** Ids that were ever given out are below this. */
    int limit() {
        return next;
    }

    void close() {
        for (int i = 0; i < chunkCount; i++) {
            Memory.free(chunks[i], CHUNK_BYTES);
        }
        Arrays.fill(inUse, 0);
        chunkCount = 0;
        next = 1;
        firstFree = 0;
    }
}
