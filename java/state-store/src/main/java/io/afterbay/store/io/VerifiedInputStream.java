package io.afterbay.store.io;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads what a {@link VerifiedOutputStream} has written; whatever it returns has been verified.
 * Closing leaves the stream below open.
 */
public final class VerifiedInputStream extends InputStream {
    private final DataInputStream in;
    private final byte[] block = new byte[VerifiedOutputStream.BLOCK_BYTES];
    private int length;
    private int at;
    private int blocks;
    private boolean isAtEnd;

    /**
     * @param in buffered
     */
    public VerifiedInputStream(InputStream in) {
        this.in = new DataInputStream(in);
    }

    @Override
    public int read() throws IOException {
        return hasMore() ? block[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int count) throws IOException {
        if (count == 0) {
            return 0;
        }
        if (!hasMore()) {
            return -1;
        }
        int step = Math.min(count, length - at);
        System.arraycopy(block, at, target, offset, step);
        at += step;
        return step;
    }

    private boolean hasMore() throws IOException {
        if (at == length && !isAtEnd) {
            readBlock();
        }
        return at < length;
    }

    private void readBlock() throws IOException {
        try {
            length = in.readInt();
            int checksum = in.readInt();
            if (length < 0 || length > block.length) {
                throw new IOException("block %d is damaged: its length".formatted(blocks));
            }
            in.readFully(block, 0, length);
            if (checksum != VerifiedOutputStream.checksum(blocks, block, length)) {
                throw new IOException("block %d is damaged: checksum mismatch".formatted(blocks));
            }
        } catch (EOFException e) {
            throw new IOException("it ends within block %d".formatted(blocks), e);
        }
        at = 0;
        blocks++;
        isAtEnd = length == 0;
    }
}
