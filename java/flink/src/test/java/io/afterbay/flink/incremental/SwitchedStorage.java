package io.afterbay.flink.incremental;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;

/** Checkpoint storage that works, or does not, as a test wants. */
final class SwitchedStorage extends LocalFileSystem {
    enum State {
        WORKS,
        /** No write comes to an end before its stream is closed. */
        HANGS,
        FULL
    }

    volatile State state = State.WORKS;

    /** Somebody has written while it did not work. */
    final CountDownLatch reached = new CountDownLatch(1);

    private final List<Written> streams = new CopyOnWriteArrayList<>();

    @Override
    public FSDataOutputStream create(Path path, WriteMode overwrite) throws IOException {
        Written stream = new Written(super.create(path, overwrite));
        streams.add(stream);
        return stream;
    }

    /**
     * Closes streams, as Flink does with what a task leaves open when it ends. It works from now
     * on: a stream that is made meanwhile must not hang for ever.
     */
    void endHanging() throws IOException {
        state = State.WORKS;
        for (Written stream : streams) {
            stream.close();
        }
    }

    private final class Written extends FSDataOutputStream {
        private final FSDataOutputStream out;
        private final CountDownLatch closed = new CountDownLatch(1);

        Written(FSDataOutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            pass();
            out.write(bytes, offset, length);
        }

        private void pass() throws IOException {
            State now = state; // the test may change it at once
            if (now == State.WORKS) {
                return;
            }
            reached.countDown();
            if (now == State.FULL) {
                throw new IOException("No space left on device");
            }
            try {
                closed.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            throw new IOException("the stream was closed");
        }

        @Override
        public long getPos() throws IOException {
            return out.getPos();
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void sync() throws IOException {
            out.sync();
        }

        @Override
        public void close() throws IOException {
            closed.countDown();
            out.close();
        }
    }
}
