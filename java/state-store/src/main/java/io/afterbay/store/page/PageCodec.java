package io.afterbay.store.page;

import io.airlift.compress.MalformedInputException;
import io.airlift.compress.lz4.Lz4RawCompressor;
import io.airlift.compress.lz4.Lz4RawDecompressor;
import java.nio.ByteBuffer;

/** Makes blocks of pages, compressed to LZ4 blocks if that saves room. Each thread has its own. */
final class PageCodec {
    private static final ThreadLocal<PageCodec> OF_THREAD = ThreadLocal.withInitial(PageCodec::new);

    private final int[] table = new int[Lz4RawCompressor.MAX_TABLE_SIZE];
    private final ByteBuffer buffer =
            ByteBuffer.allocateDirect(Lz4RawCompressor.maxCompressedLength(PageSize.LARGEST_BYTES));
    private final long compressed = Memory.addressOf(buffer);

    private int pageBytes;
    private long stored;
    private int storedBytes;

    private PageCodec() {}

    /** That of the calling thread. */
    static PageCodec get() {
        return OF_THREAD.get();
    }

    /** Prepares a page for {@link #write}; it must stay as it is until then. */
    void encode(long page, int bytes, boolean compression) {
        pageBytes = bytes;
        stored = page;
        storedBytes = bytes;
        if (compression) {
            int length =
                    Lz4RawCompressor.compress(
                            null, page, bytes, null, compressed, buffer.capacity(), table);
            if (Block.roomBytes(bytes, length) < bytes) {
                stored = compressed;
                storedBytes = length;
            }
        }
    }

    int roomBytes() {
        return Block.roomBytes(pageBytes, storedBytes);
    }

    int blockBytes() {
        return Block.HEADER_BYTES + roomBytes();
    }

    /** Writes the block of the page that was encoded last. */
    void write(long at, int pageId) {
        Block.write(at, pageId, pageBytes, stored, storedBytes);
    }

    /** Whether the input is a page of that size. */
    static boolean decompress(long input, int inputBytes, long page, int pageBytes) {
        try {
            int bytes =
                    Lz4RawDecompressor.decompress(
                            null, input, input + inputBytes, null, page, page + pageBytes);
            return bytes == pageBytes;
        } catch (MalformedInputException e) {
            return false;
        }
    }
}
