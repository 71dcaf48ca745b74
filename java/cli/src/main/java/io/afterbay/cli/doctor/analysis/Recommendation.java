package io.afterbay.cli.doctor.analysis;

import io.afterbay.cli.doctor.reading.Engine;
import io.afterbay.maintenance.ConcurrencyKnee;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What to set, for the engine that was found (ShadowSync, section 4): triggers that differ, a delay
 * of compactions after a burst of flushes, and as many compaction threads as latency bears. Only
 * what the logs give reason for.
 *
 * @param advice in the order in which to try it; one change at a time
 * @param delayMicros T, how long compactions should wait after a burst; 0 without bursts
 * @param holdMicros how long they are held at most: the burst and T, below half of the period
 */
public record Recommendation(List<Advice> advice, long delayMicros, long holdMicros) {
    private static final long STEP_MICROS = 100_000;

    /** Part of the compacting bursts that meet compactions, from which a delay is worth it. */
    private static final double MET_MIN = 0.25;

    private static final String FLINK_FILE = "Flink's conf/config.yaml";
    private static final String FLINK_FACTORY =
            "state.backend.rocksdb.options-factory: io.afterbay.flink.DesyncRocksDBOptionsFactory";

    /** Never fails; without a reason there is no advice. */
    public static Recommendation of(Diagnosis diagnosis) {
        long delay = delay(diagnosis);
        long hold = hold(diagnosis, delay);
        List<Advice> advice = new ArrayList<>();
        boolean isTogether =
                diagnosis.verdict() == Verdict.ALIGNED
                        || diagnosis.verdict() == Verdict.PARTLY_ALIGNED;
        if (isTogether && !diagnosis.triggers().areSpread()) {
            advice.add(spread(diagnosis));
        }
        if (isTogether && hold > 0 && meet(diagnosis.rhythm())) {
            addDelay(advice, diagnosis, hold);
        }
        diagnosis
                .latency()
                .map(LatencyEffect::threads)
                .filter(threads -> threads.verdict() == ConcurrencyKnee.Verdict.KNEE)
                .ifPresent(threads -> advice.add(threads(diagnosis, threads.limit())));
        return new Recommendation(List.copyOf(advice), delay, hold);
    }

    /**
     * T: as long as latency takes to settle after a burst; without a latency log as long as the
     * burst, since a job that keeps up drains its queue in less (T = λ·Δt/C, equation 2).
     */
    private static long delay(Diagnosis diagnosis) {
        Rhythm rhythm = diagnosis.rhythm();
        long delay =
                diagnosis.latency().map(LatencyEffect::settleMicros).orElse(rhythm.burstMicros());
        return Math.min(delay, rhythm.periodMicros() / 2);
    }

    private static long hold(Diagnosis diagnosis, long delay) {
        Rhythm rhythm = diagnosis.rhythm();
        long wanted = roundedUp(rhythm.burstMicros() + delay);
        return Math.min(wanted, rhythm.periodMicros() / 2);
    }

    private static long roundedUp(long micros) {
        return (micros + STEP_MICROS - 1) / STEP_MICROS * STEP_MICROS;
    }

    /** Whether compactions meet the flushes of many of those bursts that make them begin. */
    private static boolean meet(Rhythm rhythm) {
        double compacting = (double) rhythm.bursts() / everyNth(rhythm);
        return rhythm.burstsWithCompactions() > 0
                && rhythm.burstsWithCompactions() >= MET_MIN * compacting;
    }

    private static int everyNth(Rhythm rhythm) {
        return Math.max(1, rhythm.everyNthBurst());
    }

    private static Advice spread(Diagnosis diagnosis) {
        int base = diagnosis.triggers().lowest();
        int top = 2 * base - 1;
        String reason =
                "compactions fall due together because all instances count to %d; with triggers of %d to %d, of %d instances about %d compact after the same flushes rather than %d"
                        .formatted(
                                base,
                                base,
                                top,
                                diagnosis.instances().size(),
                                expectedTogether(diagnosis.instances().size(), base),
                                diagnosis.mostInstancesPerSlot());
        return switch (diagnosis.engine()) {
            case FLINK ->
                    new Advice(
                            "spread_triggers",
                            reason,
                            FLINK_FILE,
                            List.of(
                                    FLINK_FACTORY,
                                    "state.backend.rocksdb.desync.trigger-spread: true"));
            case KAFKA_STREAMS ->
                    new Advice(
                            "spread_triggers",
                            reason,
                            "setConfig of your RocksDBConfigSetter (rocksdb.config.setter)",
                            List.of(
                                    "options.setLevel0FileNumCompactionTrigger(%d + ThreadLocalRandom.current().nextInt(%d));"
                                            .formatted(base, base)));
            case ROCKSDB ->
                    new Advice(
                            "spread_triggers",
                            reason,
                            "the options of the i-th instance",
                            List.of(
                                    "level0_file_num_compaction_trigger = %d + i %% %d"
                                            .formatted(base, base)));
        };
    }

    /** Each compacts after base + α flushes, α uniform in 0 to base - 1. */
    private static long expectedTogether(int instances, int base) {
        double sum = 0;
        for (int offset = 0; offset < base; offset++) {
            sum += 1.0 / (base + offset);
        }
        return Math.max(1, Math.round(instances * sum / base));
    }

    private static void addDelay(List<Advice> advice, Diagnosis diagnosis, long hold) {
        Rhythm rhythm = diagnosis.rhythm();
        String reason =
                "if triggers alone are not enough: compactions run during %d of %d bursts of flushes; held back, they begin when the queue of the burst is drained"
                        .formatted(rhythm.burstsWithCompactions(), rhythm.bursts());
        if (diagnosis.engine() == Engine.FLINK) {
            advice.add(
                    new Advice(
                            "delay_compactions",
                            reason,
                            FLINK_FILE,
                            List.of(
                                    FLINK_FACTORY,
                                    "state.backend.rocksdb.desync.gate: true",
                                    "state.backend.rocksdb.desync.gate.deadline: %d ms"
                                            .formatted(hold / 1000))));
        }
    }

    private static Advice threads(Diagnosis diagnosis, int limit) {
        String reason =
                String.format(
                        Locale.ROOT,
                        "latency begins to rise steeply above %d compactions at once (knee)",
                        limit);
        return switch (diagnosis.engine()) {
            case FLINK ->
                    new Advice(
                            "compaction_threads",
                            reason,
                            FLINK_FILE,
                            List.of(
                                    FLINK_FACTORY,
                                    "state.backend.rocksdb.desync.compaction-threads: " + limit));
            case KAFKA_STREAMS, ROCKSDB ->
                    new Advice(
                            "compaction_threads",
                            reason,
                            "after the last database of the process was opened",
                            List.of(
                                    "Env.getDefault().setBackgroundThreads("
                                            + limit
                                            + ", Priority.LOW);"));
        };
    }
}
