package io.afterbay.store.page;

/**
 * Which way a reader's next read takes: through the page cache of the operating system, or past it.
 *
 * <p>While the files fit in that cache, a read through it is a copy. Where they do not (a container
 * with a memory limit), it costs more than a direct read: the kernel takes scattered reads of a
 * file that is half in its cache for parts of a scan and reads on behind them, which evicts what
 * would be of use. Only the time tells which it is, so one read in {@value #PROBE_EVERY} goes the
 * other way, unless reads are as fast as copies. A read behind the last one always goes through the
 * cache: there the kernel is right to read on.
 *
 * <p>For one thread at a time.
 */
final class ReadPath {
    static final int PROBE_EVERY = 32;

    /** Until the other way is known. */
    static final int FIRST_PROBES_EVERY = 4;

    /** Reads of a kind before their mean says something. */
    static final int SAMPLES_MIN = 64;

    /** No device is that fast. */
    static final long COPY_NANOS = 20_000;

    /** The kind in use changes if the other takes at most that part of its time. */
    static final double GAIN = 0.85;

    /** How far behind the last read the kernel takes one for its continuation. */
    static final int SCAN_BYTES = 32 << 10;

    /** How a block is read. */
    enum Read {
        /** Goes on behind the last read. */
        SCAN,
        CACHED,
        DIRECT
    }

    private final Mean cached = new Mean();
    private final Mean direct = new Mean();
    private Read usual = Read.CACHED;
    private int reads;
    private int segment;
    private long end;

    /** A moving one. */
    private static final class Mean {
        int samples;
        double nanos;

        void add(long sample) {
            samples = Math.min(samples + 1, SAMPLES_MIN);
            nanos += (sample - nanos) / samples;
        }

        boolean isKnown() {
            return samples == SAMPLES_MIN;
        }
    }

    /** How to read that block. */
    Read next(int blockSegment, long offset, int bytes) {
        boolean isScan = blockSegment == segment && offset >= end && offset - end <= SCAN_BYTES;
        segment = blockSegment;
        end = offset + bytes;
        if (isScan) {
            return Read.SCAN;
        }
        Read other = other(usual);
        int probeEvery = mean(other).isKnown() ? PROBE_EVERY : FIRST_PROBES_EVERY;
        boolean probes = ++reads % probeEvery == 0 && isWorthATry(other);
        return probes ? other : usual;
    }

    /** The cache always is; the device only if the cache is slower than a copy. */
    private boolean isWorthATry(Read other) {
        return other == Read.CACHED || cached.isKnown() && cached.nanos > COPY_NANOS;
    }

    /** How long that took. */
    void took(Read read, long nanos) {
        if (read == Read.SCAN) {
            return;
        }
        mean(read).add(nanos);
        Mean now = mean(usual);
        Mean other = mean(other(usual));
        if (now.isKnown()
                && other.isKnown()
                && isWorthATry(other(usual))
                && other.nanos < now.nanos * GAIN) {
            usual = other(usual);
        }
    }

    private Mean mean(Read read) {
        return read == Read.DIRECT ? direct : cached;
    }

    private static Read other(Read read) {
        return read == Read.DIRECT ? Read.CACHED : Read.DIRECT;
    }
}
