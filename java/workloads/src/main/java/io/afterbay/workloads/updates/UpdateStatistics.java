package io.afterbay.workloads.updates;

import io.afterbay.workloads.run.RunStatistics;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * How far a run is, and how fast it is to go on: whoever runs the job in the same process sets the
 * pace, and ends it. Thread safe.
 */
public final class UpdateStatistics extends RunStatistics {
    private static final ConcurrentMap<String, UpdateStatistics> RUNS = new ConcurrentHashMap<>();
    private static final double UNSET = -1;

    private volatile double ratePerS = UNSET;
    private volatile boolean stopped;
    private volatile long behindMicros;

    private UpdateStatistics() {}

    public static UpdateStatistics of(String run) {
        return RUNS.computeIfAbsent(run, ignored -> new UpdateStatistics());
    }

    /** From now on, so many updates per second once the state is complete; 0: at full speed. */
    public void pace(double updatesPerS) {
        ratePerS = updatesPerS;
    }

    /** Ends the input. */
    public void stop() {
        stopped = true;
    }

    /** How far the source was behind its schedule lately, in microseconds. */
    public long behindMicros() {
        return behindMicros;
    }

    double ratePerS(double otherwise) {
        double set = ratePerS;
        return set == UNSET ? otherwise : set;
    }

    boolean isStopped() {
        return stopped;
    }

    void events(long count, long newBehindMicros) {
        behindMicros = newBehindMicros;
        accepted(count);
    }

    void end() {
        resultNow();
    }
}
