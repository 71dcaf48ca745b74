package io.afterbay.flink.incremental;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;

/** Checkpoint storage that takes some files, and then has no room. */
final class FullStorage extends LocalFileSystem {
    /** When it becomes known. */
    enum Moment {
        CREATE,
        WRITE,
        SYNC,
        CLOSE
    }

    private final Moment moment;
    private final AtomicInteger filesBefore;
    private final List<Path> created = new CopyOnWriteArrayList<>();
    private volatile boolean hasFailed;

    /**
     * @param filesBefore how many files are taken before that
     */
    FullStorage(Moment moment, int filesBefore) {
        this.moment = moment;
        this.filesBefore = new AtomicInteger(filesBefore);
    }

    /** Whether there were so many files. */
    boolean hasFailed() {
        return hasFailed;
    }

    /** The files that were begun, those without room too. */
    List<Path> created() {
        return created;
    }

    @Override
    public FSDataOutputStream create(Path path, WriteMode overwrite) throws IOException {
        created.add(path);
        boolean isFull = filesBefore.getAndDecrement() <= 0;
        if (isFull) {
            fail(Moment.CREATE);
        }
        return new Written(super.create(path, overwrite), isFull);
    }

    private void fail(Moment now) throws IOException {
        if (now == moment) {
            hasFailed = true;
            throw new IOException("No space left on device");
        }
    }

    private final class Written extends FSDataOutputStream {
        private final FSDataOutputStream out;
        private final boolean isFull;

        Written(FSDataOutputStream out, boolean isFull) {
            this.out = out;
            this.isFull = isFull;
        }

        private void failIfFull(Moment now) throws IOException {
            if (isFull) {
                fail(now);
            }
        }

        @Override
        public long getPos() throws IOException {
            return out.getPos();
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length / 2);
            failIfFull(Moment.WRITE);
            out.write(bytes, offset + length / 2, length - length / 2);
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void sync() throws IOException {
            failIfFull(Moment.SYNC); // and else nothing, which is much faster
        }

        @Override
        public void close() throws IOException {
            out.close();
            failIfFull(Moment.CLOSE);
        }
    }
}
