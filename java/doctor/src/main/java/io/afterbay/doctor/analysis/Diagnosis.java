package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.Engine;
import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.LatencyLog;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * All findings in the logs of a worker.
 *
 * @param instances in the order of their names; column families, if {@link #unit} says so
 * @param columnFamilies that flushed or compacted
 * @param fromMicros the first event, since 1970; 0 if no time is known
 * @param toMicros the last one; 0 if no time is known
 * @param versions of RocksDB, as far as heads of logs have them
 * @param withinStages scheduled alignment, 0 to 1; see {@link Alignment}
 * @param acrossStages statistical alignment, 0 to 1
 * @param mostInstancesPerSlot that began to compact between the same two bursts
 * @param lack why there is too little data; empty unless that is the verdict
 * @param gcPauses of the garbage collector, empty without its log, or if it tells of another time
 * @param latency empty without a latency log, or if it tells of another time
 */
public record Diagnosis(
        Engine engine,
        List<InstanceLog> instances,
        int columnFamilies,
        long fromMicros,
        long toMicros,
        List<String> versions,
        Durations flushes,
        Durations compactions,
        List<StageReport> stages,
        Overlap overlap,
        Rhythm rhythm,
        OptionalDouble withinStages,
        OptionalDouble acrossStages,
        int mostInstancesPerSlot,
        Triggers triggers,
        int stalls,
        Verdict verdict,
        String lack,
        List<WorstMoment> worst,
        Optional<Durations> gcPauses,
        Optional<LatencyEffect> latency) {

    /**
     * Examines logs.
     *
     * @param instances may be none
     */
    public static Diagnosis of(List<InstanceLog> instances, Evidence evidence) {
        return new Examination(instances, evidence).diagnose();
    }

    /**
     * Examines logs.
     *
     * @param latency of the same time, or null
     */
    public static Diagnosis of(List<InstanceLog> instances, @Nullable LatencyLog latency) {
        return of(instances, Evidence.of(latency, null));
    }

    /** What the instances are. */
    public Unit unit() {
        return Unit.of(instances);
    }

    /** Whether the time of anything is known: flushes whose ends are missing have none. */
    public boolean hasTime() {
        return toMicros > 0;
    }

    /** From the first to the last event, in microseconds. */
    public long spanMicros() {
        return toMicros - fromMicros;
    }
}
