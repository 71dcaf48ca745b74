package io.afterbay.spark.publish;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread of a {@link Publisher}, and its heartbeat: it beats when it begins a file and with
 * each piece that it reads of it. Fields are guarded by the publisher's lock, but the beat and the
 * silence, which only the thread itself changes.
 */
final class Worker {
    private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

    final Thread thread;
    @Nullable PendingFile file;

    /** What it does for the file. */
    Step step = Step.WRITE;

    /** What it is to reveal. */
    @Nullable Staged staged;

    /** Given up: what it still does counts for nothing. */
    boolean isStale;

    /** What ended the thread, if it was an error. */
    volatile @Nullable Throwable death;

    private volatile long beatNanos;

    /** Waits for bandwidth, which is no silence of the storage. */
    private volatile boolean isPausing;

    private long silenceNanos;

    Worker(String name, Conductor conductor) {
        thread = new Thread(() -> work(conductor), name);
        thread.setDaemon(true);
        thread.setContextClassLoader(Publisher.class.getClassLoader());
    }

    private void work(Conductor conductor) {
        try {
            boolean goesOn;
            do {
                goesOn = conductor.runNext(this);
            } while (goesOn);
        } catch (Throwable e) {
            death = e;
            conductor.died();
            if (e instanceof VirtualMachineError) {
                throw e; // Spark ends an executor that has no memory
            }
            // Uncaught, it would end it, too.
            LOG.error("A thread that publishes checkpoints has died, and is replaced", e);
        }
    }

    /** Begins a file; what is staged of it is this worker's, if it has its turn. */
    void begin(PendingFile next, Step what, long now) {
        file = next;
        step = what;
        staged = what == Step.REVEAL ? next.staged : null;
        if (what == Step.REVEAL) {
            next.staged = null;
        }
        beatNanos = now;
        silenceNanos = 0;
    }

    void beat(long now) {
        silenceNanos = Math.max(silenceNanos, now - beatNanos);
        beatNanos = now;
    }

    /** The longest time between two beats in this file. */
    long silenceNanos() {
        return silenceNanos;
    }

    /** Since the last beat, 0 in a pause for the bandwidth. */
    long silentFor(long now) {
        return isPausing ? 0 : now - beatNanos;
    }

    /** Whether it neither works nor will. A thread that has not been started yet is none. */
    boolean isDead() {
        return death != null || thread.getState() == Thread.State.TERMINATED;
    }

    boolean isHung(long now, long hangNanosMax) {
        return file != null && silentFor(now) > hangNanosMax;
    }

    /** The content of a file, no faster than the bandwidth allows. */
    InputStream paced(InputStream content, Bandwidth.Share bandwidth, Publisher.Time time) {
        return new FilterInputStream(content) {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] buffer, int offset, int length) throws IOException {
                beat(time.nanos().getAsLong());
                int read = in.read(buffer, offset, Math.min(length, Bandwidth.CHUNK_BYTES));
                if (read > 0) {
                    pauseFor(read);
                }
                return read;
            }

            private void pauseFor(int bytes) throws IOException {
                isPausing = true;
                try {
                    bandwidth.take(bytes, time);
                } finally {
                    beatNanos = time.nanos().getAsLong(); // the pause is ours
                    isPausing = false;
                }
            }
        };
    }
}
