package io.afterbay.store.page;

import io.afterbay.store.StateStoreException;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Writes and reads the files of the segment log (format: {@code spec/state-log.md}). Knows nothing
 * of what is live, and needs no lock: threads that write to a segment at the same time write
 * different parts, and what is read lies in a part that is written.
 */
final class SegmentFiles {
    private static final ThreadLocal<Staging> STAGING =
            ThreadLocal.withInitial(() -> new Staging(Staging.BYTES));
    private static final ThreadLocal<Staging> VISITING =
            ThreadLocal.withInitial(() -> new Staging(Staging.BYTES));

    private final LocalFiles files;
    private final Path directory;

    SegmentFiles(LocalFiles files, Path directory) {
        this.files = files;
        this.directory = directory;
    }

    void createDirectory() {
        try {
            files.createDirectories(directory);
        } catch (IOException e) {
            throw new StateStoreException(
                    directory
                            + ": cannot create the directory for local state: "
                            + e.getMessage()
                            + "; give the process the right to write there, or configure another directory",
                    e);
        }
    }

    /** With nothing in it: a file that could not be deleted stays, which the log has reported. */
    void deleteDirectory() {
        try {
            files.deleteDirectory(directory);
        } catch (IOException e) {
            // Not empty.
        }
    }

    static String fileName(int segment) {
        return String.format("%08d.log", segment);
    }

    Path path(int segment) {
        return directory.resolve(fileName(segment));
    }

    /** Writes a buffer to its place. */
    void write(Segment segment, WriteBuffer buffer) throws IOException {
        LocalFile file = open(segment);
        Staging staging = STAGING.get();
        int staged = 0;
        long position = buffer.offset;
        for (int at = 0; at < buffer.used; ) {
            long block = buffer.address + at;
            int bytes = Block.bytes(block);
            if (staged + bytes > Staging.BYTES) {
                position = writeStaged(file, staging, staged, position);
                staged = 0;
            }
            staging.copyIn(block, staged, bytes);
            Block.seal(staging, staged);
            staged += bytes;
            at += bytes;
        }
        writeStaged(file, staging, staged, position);
    }

    private static long writeStaged(LocalFile file, Staging staging, int bytes, long position)
            throws IOException {
        ByteBuffer source = staging.buffer;
        source.position(0).limit(bytes);
        long at = position;
        while (source.hasRemaining()) {
            at += file.write(source, at);
        }
        source.clear();
        return at;
    }

    private LocalFile open(Segment segment) throws IOException {
        synchronized (segment) {
            LocalFile file = segment.file;
            if (file == null) {
                file = files.create(segment.path);
                segment.file = file;
                writeHeader(segment, file);
            }
            return file;
        }
    }

    private static void writeHeader(Segment segment, LocalFile file) throws IOException {
        Staging staging = STAGING.get();
        for (int i = 0; i < Segment.HEADER_BYTES; i += 4) {
            staging.putInt(i, 0);
        }
        staging.putInt(0, (int) Segment.MAGIC);
        staging.putInt(4, (int) (Segment.MAGIC >>> 32));
        staging.putInt(8, Segment.VERSION);
        staging.putInt(12, segment.id);
        staging.putInt(16, staging.checksum(0, 16));
        writeStaged(file, staging, Segment.HEADER_BYTES, 0);
    }

    /** Throws if the file of a segment does not begin as one. */
    void verifyHeader(Segment segment) throws IOException {
        // A thread may be here amid a read of its own, which brought the last of a file.
        Staging staging = new Staging(Segment.HEADER_BYTES);
        readStaged(segment, 0, Segment.HEADER_BYTES, staging);
        if (staging.getInt(0) != (int) Segment.MAGIC
                || staging.getInt(4) != (int) (Segment.MAGIC >>> 32)
                || staging.getInt(8) != Segment.VERSION
                || staging.getInt(12) != segment.id
                || staging.getInt(16) != staging.checksum(0, 16)) {
            throw new IOException(
                    segment.path.getFileName()
                            + ": it does not begin as segment "
                            + segment.id
                            + ", version "
                            + Segment.VERSION);
        }
    }

    /** Reads the page at a location into memory and verifies it. */
    void read(Segment segment, long location, int pageId, long target) throws IOException {
        Staging staging = STAGING.get();
        int bytes = Location.blockBytes(location);
        readStaged(segment, Location.offset(location), bytes, staging);
        long block = staging.address(0);
        if (Block.pageBytes(block) != Location.pageBytes(location)
                || !Block.isPlausible(block)
                || Block.bytes(block) != bytes) {
            throw damaged();
        }
        verify(staging, 0, pageId);
        if (!Block.restore(block, target)) {
            throw new IOException("the page cannot be decompressed, the block is damaged");
        }
    }

    private static void readStaged(Segment segment, long offset, int bytes, Staging staging)
            throws IOException {
        LocalFile file = segment.file;
        if (file == null) {
            throw new IOException("the file was never created");
        }
        ByteBuffer target = staging.buffer;
        target.position(0).limit(bytes);
        while (target.hasRemaining()) {
            int read = file.read(target, offset + target.position());
            if (read < 0) {
                throw new IOException(
                        "the file ends after " + target.position() + " of " + bytes + " bytes");
            }
        }
        target.clear();
    }

    private static void verify(Staging staging, int position, int pageId) throws IOException {
        if (!Block.isIntact(staging, position)) {
            throw damaged();
        }
        int found = Block.pageId(staging.address(position));
        if (found != pageId) {
            throw new IOException("page " + found + " where page " + pageId + " belongs");
        }
    }

    private static IOException damaged() {
        return new IOException("checksum mismatch, the block is damaged");
    }

    /** What compaction does with each block of a segment. Called without the lock. */
    interface BlockVisitor {
        /**
         * @param block where it lies in memory during the call
         */
        void block(long location, long block);
    }

    /**
     * Reads a segment from front to back.
     *
     * @throws DamagedException with the place
     */
    void visit(Segment segment, BlockVisitor visitor) throws DamagedException {
        Staging staging = VISITING.get(); // what the visitor writes passes through the other one
        long offset = Segment.HEADER_BYTES;
        try {
            while (offset < segment.end) {
                int bytes = (int) Math.min(Staging.BYTES, segment.end - offset);
                readStaged(segment, offset, bytes, staging);
                int visited = visitStaged(segment, offset, bytes, staging, visitor);
                if (visited == 0) {
                    throw new IOException("a block reaches beyond the end, the block is damaged");
                }
                offset += visited;
            }
        } catch (IOException e) {
            throw new DamagedException(offset, e);
        }
    }

    private static int visitStaged(
            Segment segment, long offset, int bytes, Staging staging, BlockVisitor visitor)
            throws IOException {
        int at = 0;
        while (at + Block.HEADER_BYTES <= bytes) {
            long block = staging.address(at);
            if (!Block.isPlausible(block)) {
                throw new IOException(
                        "a block of "
                                + Block.pageBytes(block)
                                + " bytes, stored as "
                                + Block.storedBytes(block)
                                + ", the block is damaged");
            }
            int length = Block.bytes(block);
            if (at + length > bytes) {
                break;
            }
            verify(staging, at, Block.pageId(block));
            int room = length - Block.HEADER_BYTES;
            long location = Location.of(segment.id, offset + at, Block.pageBytes(block), room);
            visitor.block(location, block);
            at += length;
        }
        return at;
    }

    /** A file that cannot be read from a place on. */
    static final class DamagedException extends IOException {
        private static final long serialVersionUID = 1;
        final long offset;

        DamagedException(long offset, IOException cause) {
            super(cause.getMessage(), cause);
            this.offset = offset;
        }
    }

    /** Closes and deletes the file of a segment, if it was created. */
    void delete(Segment segment) throws IOException {
        LocalFile file = segment.file;
        if (file != null) {
            file.close();
            files.delete(segment.path);
        }
    }
}
