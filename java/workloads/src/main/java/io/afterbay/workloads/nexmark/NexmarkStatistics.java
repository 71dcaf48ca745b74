package io.afterbay.workloads.nexmark;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.run.RunStatistics;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The figures of a run. The latency of a row is the time at which it arrives at the sink minus the
 * stamp of the event whose watermark let it be computed: the time at which that event was due or,
 * as fast as possible, generated. As event time and watermarks depend on the event number only,
 * this event follows from the row, and no stamp travels through the job. Rows that come with the
 * end of the input wait for nobody and have no latency.
 */
public final class NexmarkStatistics extends RunStatistics {
    private static final ConcurrentMap<String, NexmarkStatistics> RUNS = new ConcurrentHashMap<>();

    /** Watermarks that are remembered; no job is further behind its source. */
    private static final int STAMPS = 1 << 20;

    private static final long NO_STAMP = -1;

    private final AtomicLong rows = new AtomicLong();
    private final AtomicLongArray stampMicros = new AtomicLongArray(STAMPS);
    private volatile long newestStamp = NO_STAMP;

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

    void events(long count) {
        accepted(count);
    }

    /** The stamp of an event that brings a watermark. */
    void stamp(long number, long micros) {
        long index = Watermarks.indexOf(number);
        stampMicros.set(slot(index), micros);
        newestStamp = index;
    }

    void row(Answer answer, Generator generator) {
        rows.incrementAndGet();
        observer().row(answer::csv);
        long index = Watermarks.indexThatReaches(answer.timeMillis(), generator);
        long newest = newestStamp;
        if (index <= newest && index > newest - STAMPS) {
            long latencyMicros = EpochClock.micros() - stampMicros.get(slot(index));
            latency(latencyMicros);
            observer().result(latencyMicros);
        }
    }

    private static int slot(long index) {
        return (int) (index % STAMPS);
    }

    void end() {
        resultNow();
    }
}
