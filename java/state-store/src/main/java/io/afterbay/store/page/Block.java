package io.afterbay.store.page;

/**
 * One page image in a segment file (format: {@code spec/state-log.md}). Little endian, 16-byte
 * aligned.
 *
 * <pre>
 *   0        4         8              12         16
 *   +--------+---------+--------------+----------+------------------ ...
 *   | CRC32C | page id | payload size | reserved | payload (a page)
 *   +--------+---------+--------------+----------+------------------ ...
 *            |<--------- covered by the checksum ------------------->|
 * </pre>
 */
final class Block {
    static final int HEADER_BYTES = 16;
    private static final int PAGE_ID = 4;
    private static final int SIZE = 8;
    private static final int RESERVED = 12;

    private Block() {}

    static int bytes(int payloadBytes) {
        return HEADER_BYTES + payloadBytes;
    }

    static void write(long at, int pageId, long payload, int payloadBytes) {
        Memory.putInt(at, 0);
        Memory.putInt(at + PAGE_ID, pageId);
        Memory.putInt(at + SIZE, payloadBytes);
        Memory.putInt(at + RESERVED, 0);
        Memory.copy(payload, at + HEADER_BYTES, payloadBytes);
    }

    static int pageId(long at) {
        return Memory.getInt(at + PAGE_ID);
    }

    static int payloadBytes(long at) {
        return Memory.getInt(at + SIZE);
    }

    static int pageId(Staging staging, int position) {
        return staging.getInt(position + PAGE_ID);
    }

    static int payloadBytes(Staging staging, int position) {
        return staging.getInt(position + SIZE);
    }

    /** Writes the checksum of a block that lies in {@code staging}. */
    static void seal(Staging staging, int position, int payloadBytes) {
        staging.putInt(position, checksum(staging, position, payloadBytes));
    }

    static boolean isIntact(Staging staging, int position, int payloadBytes) {
        return staging.getInt(position) == checksum(staging, position, payloadBytes);
    }

    private static int checksum(Staging staging, int position, int payloadBytes) {
        return staging.checksum(position + PAGE_ID, HEADER_BYTES - PAGE_ID + payloadBytes);
    }
}
