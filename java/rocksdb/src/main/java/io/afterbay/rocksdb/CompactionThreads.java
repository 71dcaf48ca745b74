package io.afterbay.rocksdb;

import java.util.Objects;

/**
 * How many compactions of a process run at once: the threads of RocksDB's LOW pool.
 *
 * @param mode who decides
 * @param number if fixed, 1 to {@link #MAX}; otherwise 0
 * @param latency if advised or automatic, what the knee is sought in
 */
public record CompactionThreads(Mode mode, int number, LatencySource latency) {
    public static final int MAX = 256;

    /** RocksDB and its user decide. */
    public static final CompactionThreads DEFAULT = new CompactionThreads(Mode.DEFAULT, 0, () -> 0);

    /** Who decides. */
    public enum Mode {
        /** RocksDB and its user, by the options of the instances. */
        DEFAULT,
        /** A number. */
        FIXED,
        /** As {@link #DEFAULT}; the knee is only told, by {@link DesyncMetrics#kneeThreads}. */
        ADVISED,
        /** The knee, as long as there is one. */
        AUTO
    }

    public CompactionThreads {
        Objects.requireNonNull(latency, "latency");
        boolean isFixed = mode == Mode.FIXED;
        if (isFixed ? number < 1 || number > MAX : number != 0) {
            throw new IllegalArgumentException(
                    "compaction threads are 1 to " + MAX + " if fixed, not " + number);
        }
    }

    /** So many, whatever instances ask for when they are opened. */
    public static CompactionThreads of(int number) {
        return new CompactionThreads(Mode.FIXED, number, () -> 0);
    }

    /** Leaves the threads alone, and tells the knee. */
    public static CompactionThreads advised(LatencySource latency) {
        return new CompactionThreads(Mode.ADVISED, 0, latency);
    }

    /** At the knee, and as many as processors while there is none. */
    public static CompactionThreads auto(LatencySource latency) {
        return new CompactionThreads(Mode.AUTO, 0, latency);
    }

    boolean seeksKnee() {
        return mode == Mode.ADVISED || mode == Mode.AUTO;
    }
}
