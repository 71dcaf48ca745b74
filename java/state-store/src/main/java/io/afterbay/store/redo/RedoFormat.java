package io.afterbay.store.redo;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.zip.CRC32C;

/** Headers and checksums of segment files, as in {@code spec/redo-log.md}. */
final class RedoFormat {
    static final int VERSION = 1;
    static final int HEADER_BYTES = 44;
    static final int BLOCK_HEADER_BYTES = 8;

    private static final long MAGIC =
            ByteBuffer.wrap("AFTRREDO".getBytes(StandardCharsets.US_ASCII)).getLong();

    private static final int IDENTITY_OFFSET = 16;
    private static final int CHECKSUM_OFFSET = 40;

    private RedoFormat() {}

    static byte[] header(UUID log, long segment) {
        byte[] header = new byte[HEADER_BYTES];
        ByteBuffer.wrap(header)
                .putLong(MAGIC)
                .putInt(VERSION)
                .putInt(0)
                .putLong(log.getMostSignificantBits())
                .putLong(log.getLeastSignificantBits())
                .putLong(segment)
                .putInt(checksum(header));
        return header;
    }

    private static int checksum(byte[] header) {
        CRC32C checksum = new CRC32C();
        checksum.update(header, 0, CHECKSUM_OFFSET);
        return (int) checksum.getValue();
    }

    /** What is wrong with a header, or an empty text. */
    static String problem(byte[] header, UUID log, long segment) {
        ByteBuffer fields = ByteBuffer.wrap(header);
        if (fields.getLong() != MAGIC) {
            return "it is no redo log";
        }
        int version = fields.getInt();
        if (version != VERSION) {
            return "it has format %d; this version reads format %d".formatted(version, VERSION);
        }
        if (fields.getInt(CHECKSUM_OFFSET) != checksum(header)) {
            return "its header is damaged";
        }
        UUID foundLog =
                new UUID(fields.getLong(IDENTITY_OFFSET), fields.getLong(IDENTITY_OFFSET + 8));
        long foundSegment = fields.getLong(IDENTITY_OFFSET + 16);
        return foundLog.equals(log) && foundSegment == segment
                ? ""
                : "it is segment %d of log %s".formatted(foundSegment, foundLog);
    }

    /** Of the block with that number in the segment of the header. */
    static int blockChecksum(byte[] header, int number, byte[] payload, int length) {
        CRC32C checksum = new CRC32C();
        checksum.update(header, IDENTITY_OFFSET, CHECKSUM_OFFSET - IDENTITY_OFFSET);
        checksum.update(ByteBuffer.allocate(8).putInt(number).putInt(length).flip());
        checksum.update(payload, 0, length);
        return (int) checksum.getValue();
    }
}
