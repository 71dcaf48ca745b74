package io.afterbay.spark.publish;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One thread of a {@link Publisher}, and its heartbeat: it beats when it begins a file and with
 * each piece that it reads of it. Fields are guarded by the publisher's lock, but the beat and the
 * silence, which only the thread itself changes.
 */
final class Worker {
    final Thread thread;
    @Nullable PendingFile file;

    /** Given up: what it still does counts for nothing. */
    boolean isStale;

    /** What ended the thread, if it was an error. */
    volatile @Nullable Throwable death;

    private volatile long beatNanos;
    private long silenceNanos;

    Worker(String name, Publisher publisher) {
        thread = new Thread(() -> work(publisher), name);
        thread.setDaemon(true);
        thread.setContextClassLoader(Publisher.class.getClassLoader());
    }

    private void work(Publisher publisher) {
        try {
            boolean goesOn;
            do {
                goesOn = publisher.runNext(this);
            } while (goesOn);
        } catch (Throwable e) {
            death = e;
            publisher.wake(); // it is replaced at once
            throw e;
        }
    }

    /** Begins a file. */
    void begin(PendingFile next, long now) {
        file = next;
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

    /** Since the last beat. */
    long silentFor(long now) {
        return now - beatNanos;
    }

    /** Whether it neither works nor will. A thread that has not been started yet is none. */
    boolean isDead() {
        return death != null || thread.getState() == Thread.State.TERMINATED;
    }

    boolean isHung(long now, long hangNanosMax) {
        return file != null && silentFor(now) > hangNanosMax;
    }

    /** The content of a file, no faster than the bandwidth allows. */
    InputStream paced(InputStream content, Bandwidth bandwidth, LongSupplier clock) {
        return new FilterInputStream(content) {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] buffer, int offset, int length) throws IOException {
                beat(clock.getAsLong());
                int read = in.read(buffer, offset, Math.min(length, Bandwidth.CHUNK_BYTES));
                if (read > 0) {
                    LockSupport.parkNanos(bandwidth.nanosBefore(read, clock.getAsLong()));
                    beatNanos = clock.getAsLong(); // the pause is ours
                }
                return read;
            }
        };
    }
}
