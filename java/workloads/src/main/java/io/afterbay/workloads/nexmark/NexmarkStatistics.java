package io.afterbay.workloads.nexmark;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.run.RunStatistics;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The figures of a run. The latency of a row is the time at which it arrives at the sink minus the
 * stamp of the event whose watermark let it be computed: the time at which that event was due or,
 * as fast as possible, generated. As event time and watermarks depend on the event number only,
 * this event follows from the row, and no stamp travels through the job. Rows that come with the
 * end of the input wait for nobody and have no latency.
 */
public final class NexmarkStatistics extends RunStatistics {
    private static final ConcurrentMap<String, NexmarkStatistics> RUNS = new ConcurrentHashMap<>();

    private final AtomicLong rows = new AtomicLong();
    private volatile @Nullable AtomicLongArray stampMicros;

    private NexmarkStatistics() {}

    public static NexmarkStatistics of(String run) {
        return RUNS.computeIfAbsent(run, ignored -> new NexmarkStatistics());
    }

    /** Ends the sharing; operators that still hold the object do no harm. */
    public static void forget(String run) {
        RUNS.remove(run);
    }

    /** Rows at the sink; after a restart, those since the checkpoint count again. */
    public long rows() {
        return rows.get();
    }

    /** The source begins, or begins again after a failure. */
    void begin(long events) {
        AtomicLongArray stamps = stampMicros;
        if (stamps == null) {
            stampMicros = new AtomicLongArray(Watermarks.indexOf(events - 1) + 1);
        }
    }

    void events(long count) {
        accepted(count);
    }

    /** The stamp of an event that brings a watermark. */
    void stamp(long number, long micros) {
        AtomicLongArray stamps = stampMicros;
        if (stamps != null) {
            stamps.set(Watermarks.indexOf(number), micros);
        }
    }

    void row(Answer answer, Generator generator) {
        rows.incrementAndGet();
        AtomicLongArray stamps = stampMicros;
        if (stamps == null) {
            return;
        }
        long index = Watermarks.indexThatReaches(answer.timeMillis(), generator);
        long micros = index < stamps.length() ? stamps.get((int) index) : 0;
        if (micros != 0) {
            latency(EpochClock.micros() - micros);
        }
    }

    void end() {
        resultNow();
    }
}
