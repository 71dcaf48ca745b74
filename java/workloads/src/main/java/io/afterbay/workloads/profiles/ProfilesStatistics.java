package io.afterbay.workloads.profiles;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.run.RunStatistics;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The figures of a run. The latency of a row is the time at which it arrives at the sink minus the
 * one at which its record was due or, as fast as possible, generated. Thread safe.
 */
public final class ProfilesStatistics extends RunStatistics {
    private static final ConcurrentMap<String, ProfilesStatistics> RUNS = new ConcurrentHashMap<>();

    /** Records that are remembered; no job is further behind its source. */
    private static final int STAMPS = 1 << 18;

    private final AtomicLong rows = new AtomicLong();
    private final AtomicLongArray stampMicros = new AtomicLongArray(STAMPS);
    private volatile long newest = -1;

    private ProfilesStatistics() {}

    public static ProfilesStatistics of(String run) {
        return RUNS.computeIfAbsent(run, ignored -> new ProfilesStatistics());
    }

    /** Rows at the sink; after a restart, those since the checkpoint count again. */
    public long rows() {
        return rows.get();
    }

    void records(long count) {
        accepted(count);
    }

    /** Called before the record leaves the source. */
    void stamp(long number, long micros) {
        stampMicros.set(slot(number), micros);
        newest = number;
    }

    void row(StandardTitle title, long number) {
        rows.incrementAndGet();
        observer().row(title::csv);
        if (number > newest - STAMPS) {
            long latencyMicros = EpochClock.micros() - stampMicros.get(slot(number));
            latency(latencyMicros);
            observer().result(latencyMicros);
        }
    }

    private static int slot(long number) {
        return (int) (number % STAMPS);
    }

    void end() {
        resultNow();
    }
}
