package io.afterbay.store.io;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.CRC32C;

/**
 * Writes blocks of up to 64 KiB with a checksum before each, so that a reader sees nothing that is
 * damaged:
 *
 * <pre>
 *   length 4 | CRC32C of (number of the block 4, length 4, payload) 4 | payload    repeated
 *   0        | CRC32C                                                              the end
 * </pre>
 *
 * Closing writes the end, and leaves the stream below open.
 */
public final class VerifiedOutputStream extends OutputStream {
    static final int BLOCK_BYTES = 64 << 10;

    private final DataOutputStream out;
    private final byte[] block = new byte[BLOCK_BYTES];
    private int used;
    private int blocks;
    private boolean closed;

    public VerifiedOutputStream(OutputStream out) {
        this.out = new DataOutputStream(out);
    }

    @Override
    public void write(int b) throws IOException {
        if (used == BLOCK_BYTES) {
            writeBlock();
        }
        block[used++] = (byte) b;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        for (int at = 0; at < length; ) {
            if (used == BLOCK_BYTES) {
                writeBlock();
            }
            int step = Math.min(length - at, BLOCK_BYTES - used);
            System.arraycopy(bytes, offset + at, block, used, step);
            used += step;
            at += step;
        }
    }

    private void writeBlock() throws IOException {
        out.writeInt(used);
        out.writeInt(checksum(blocks++, block, used));
        out.write(block, 0, used);
        used = 0;
    }

    static int checksum(int number, byte[] payload, int length) {
        CRC32C checksum = new CRC32C();
        for (int value : new int[] {number, length}) {
            for (int shift = 24; shift >= 0; shift -= 8) {
                checksum.update(value >>> shift);
            }
        }
        checksum.update(payload, 0, length);
        return (int) checksum.getValue();
    }

    @Override
    public void close() throws IOException {
        if (!closed) {
            closed = true;
            if (used > 0) {
                writeBlock();
            }
            writeBlock();
            out.flush();
        }
    }
}
