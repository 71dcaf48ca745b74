package io.afterbay.spark.publish;

import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * How many bytes the {@link Publisher}s of a process upload in a second, all together, evenly over
 * time. Each has a {@link Share}: of those that have something to write, the one that was granted
 * the fewest bytes is next (start-time fair queueing; Goyal, Vin and Cheng, SIGCOMM '96). So a
 * query with many threads leaves as much to one with few.
 *
 * <pre>
 *   share of query A:  a3 a2 a1 --\
 *                                  fewest bytes first --> granted, when the last grant is used up
 *   share of query B:        b1 --/
 * </pre>
 *
 * <p>Safe for use by any thread. Nobody is woken: whoever waits hears how long to pause before
 * asking again.
 */
public final class Bandwidth {
    /** Bytes are asked for in pieces of at most this. */
    static final int CHUNK_BYTES = 64 << 10;

    private static final long SECOND = 1_000_000_000;

    private final long bytesPerSecondMax;

    /** With requests that are not granted. */
    private final List<Share> waiting = new ArrayList<>();

    /** When the last grant is used up. */
    private long freeAtNanos;

    private boolean began;

    /** What the share of the last grant had before it: where one begins that was idle. */
    private long round;

    private long bytes;
    private long pausedNanos;

    /**
     * @param bytesPerSecondMax 0 for no limit
     */
    public Bandwidth(long bytesPerSecondMax) {
        this.bytesPerSecondMax = bytesPerSecondMax;
    }

    /** What one publisher gets. */
    final class Share {
        private final Deque<Request> line = new ArrayDeque<>();
        private long granted;

        /** Pauses until so many bytes may be written, {@link #CHUNK_BYTES} at most. */
        void take(int size, Publisher.Time time) throws InterruptedIOException {
            Request request = ask(size, time.nanos().getAsLong());
            try {
                long left = request.nanosLeft(time.nanos().getAsLong());
                while (left > 0) {
                    time.pause().accept(left);
                    if (Thread.interrupted()) {
                        throw new InterruptedIOException("given up in a pause for the bandwidth");
                    }
                    left = request.nanosLeft(time.nanos().getAsLong());
                }
            } finally {
                request.withdraw();
            }
        }

        /** Behind all requests of this share. */
        Request ask(int size, long now) {
            synchronized (Bandwidth.this) {
                bytes += size;
                Request request = new Request(this, size, now);
                if (bytesPerSecondMax == 0) {
                    request.isGranted = true;
                } else {
                    grantUntil(now);
                    add(request, now);
                }
                return request;
            }
        }

        private void add(Request request, long now) {
            if (waiting.isEmpty() && (!began || freeAtNanos - now < 0)) {
                began = true;
                freeAtNanos = now; // nothing is saved up while nobody writes
            }
            if (line.isEmpty()) {
                granted = Math.max(granted, round);
                waiting.add(this);
            }
            line.addLast(request);
        }

        private void remove(Request request) {
            if (line.remove(request) && line.isEmpty()) {
                waiting.remove(this);
            }
        }
    }

    /** Bytes that somebody wants to write. */
    final class Request {
        private final Share share;
        private final int size;
        private final long sinceNanos;
        private boolean isGranted;

        private Request(Share share, int size, long now) {
            this.share = share;
            this.size = size;
            this.sinceNanos = now;
        }

        /** 0 if they may be written now, else how long to pause before asking again. */
        long nanosLeft(long now) {
            synchronized (Bandwidth.this) {
                grantUntil(now);
                if (isGranted) {
                    pausedNanos += now - sinceNanos;
                    return 0;
                }
                return freeAtNanos - now + nanos(before());
            }
        }

        /** It may take longer, but no less: other shares have their turns between these. */
        private long before() {
            return share.line.stream().takeWhile(r -> r != this).mapToLong(r -> r.size).sum();
        }

        /** Leaves the line; does nothing if it has left. */
        void withdraw() {
            synchronized (Bandwidth.this) {
                share.remove(this);
            }
        }
    }

    /** For a publisher that begins. */
    Share share() {
        return new Share();
    }

    private void grantUntil(long now) {
        while (!waiting.isEmpty() && freeAtNanos - now <= 0) {
            grant(Collections.min(waiting, Comparator.comparingLong(s -> s.granted)));
        }
    }

    private void grant(Share share) {
        Request request = share.line.getFirst();
        request.isGranted = true;
        share.remove(request);
        round = share.granted;
        share.granted += request.size;
        freeAtNanos += nanos(request.size);
    }

    private long nanos(long size) {
        return size * SECOND / bytesPerSecondMax;
    }

    /** Uploaded so far or about to be, with those of attempts that failed or were hedged. */
    public synchronized long bytes() {
        return bytes;
    }

    /** How long all threads together have paused to keep the limit, in nanoseconds. */
    public synchronized long pausedNanos() {
        return pausedNanos;
    }
}
