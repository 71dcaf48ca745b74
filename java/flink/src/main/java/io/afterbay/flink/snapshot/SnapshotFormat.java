package io.afterbay.flink.snapshot;

import io.afterbay.store.ReadAlignment;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Constants of our own snapshot format; see {@code spec/flink-snapshot.md}. */
final class SnapshotFormat {
    /**
     * The first bytes of every file. Flink's other backends read them as a version number, which
     * they refuse.
     */
    static final byte[] MAGIC = "AFTERBAY".getBytes(StandardCharsets.US_ASCII);

    static final int VERSION = 1;

    /** Length of magic, version, length and checksum of the meta data. */
    static final int HEADER_BYTES = 8 + 4 + 4 + 4;

    /** The most that meta data may take; more is corruption. */
    static final int META_BYTES_MAX = 256 << 20;

    /** The most payload of one block. */
    static final int BLOCK_BYTES = 64 * 1024;

    /** Instead of a state's number: no more states in this key group. */
    static final int END_OF_KEY_GROUP = 0xFFFF;

    private SnapshotFormat() {}

    static int code(@Nullable ReadAlignment alignment) {
        return alignment == null ? 0 : alignment == ReadAlignment.ALIGNED ? 1 : 2;
    }

    static @Nullable ReadAlignment alignment(int code) {
        return switch (code) {
            case 1 -> ReadAlignment.ALIGNED;
            case 2 -> ReadAlignment.UNALIGNED;
            default -> null;
        };
    }
}
