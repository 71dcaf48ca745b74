package io.afterbay.doctor.analysis;

import io.afterbay.maintenance.ConcurrencyKnee;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * What to set, for the engine that was found (ShadowSync, section 4): triggers that differ, a delay
 * of compactions after a burst of flushes, as many compaction threads as latency bears, and more
 * than one flush at once. Only what the logs give reason for.
 *
 * @param advice in the order in which to try it; one change at a time
 * @param delayMicros T, how long compactions should wait after a burst; 0 without bursts
 * @param holdMicros how long they are held at most: the burst and T, below half of the period
 * @param expectedTogether how many instances compact after the same flushes with different
 *     triggers; empty unless that is advised
 */
public record Recommendation(
        List<Advice> advice, long delayMicros, long holdMicros, OptionalInt expectedTogether) {
    /** Holds are a multiple of it, unless the period is short; and the least that a gate takes. */
    private static final long STEP_MICROS = 100_000;

    /** The longest that a gate takes for its deadline. */
    private static final long HOLD_MICROS_MAX = 60_000_000;

    /** Bursts of flushes that take longer are felt. */
    private static final long LONG_BURST_MICROS = 250_000;

    /** How many values a spread trigger has: those from what is set on. */
    private static final int SPREAD = 4;

    /** Part of the compacting bursts that meet compactions, from which a delay is worth it. */
    private static final double MET_MIN = 0.25;

    /** Never fails; without a reason there is no advice. */
    public static Recommendation of(Diagnosis diagnosis) {
        boolean isTogether =
                diagnosis.verdict() == Verdict.ALIGNED
                        || diagnosis.verdict() == Verdict.PARTLY_ALIGNED;
        if (diagnosis.unit() == Unit.COLUMN_FAMILY) {
            return new Recommendation(
                    WithinDatabase.advice(diagnosis, isTogether), 0, 0, OptionalInt.empty());
        }
        long delay = delay(diagnosis);
        long hold = hold(diagnosis, delay);
        List<Advice> advice = new ArrayList<>();
        boolean isToSpread = isTogether && !diagnosis.triggers().areSpread();
        if (isToSpread) {
            advice.add(spread(diagnosis));
        }
        if (isTogether && hold >= STEP_MICROS && meet(diagnosis.rhythm())) {
            advice.add(delay(diagnosis, hold));
        }
        diagnosis
                .latency()
                .map(LatencyEffect::threads)
                .filter(threads -> threads.verdict() == ConcurrencyKnee.Verdict.KNEE)
                .ifPresent(threads -> advice.add(threads(diagnosis, threads.limit())));
        if (waitForEachOther(diagnosis)) {
            advice.add(flushes(diagnosis));
        }
        return new Recommendation(
                List.copyOf(advice),
                delay,
                hold,
                isToSpread ? OptionalInt.of(expectedTogether(diagnosis)) : OptionalInt.empty());
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
        return Math.min(HOLD_MICROS_MAX, Math.min(wanted, rhythm.periodMicros() / 2));
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
        int instances = diagnosis.instances().size();
        String reason =
                "compactions fall due together because all instances count to %d; with triggers of %d to %d, of %d instances about %d compact after the same flushes rather than %d"
                        .formatted(
                                base,
                                base,
                                base + SPREAD - 1,
                                instances,
                                expectedTogether(diagnosis),
                                diagnosis.mostInstancesPerSlot());
        return EngineSettings.of(diagnosis.engine())
                .spread()
                .advice("spread_triggers", reason, base);
    }

    /** Each compacts after base + α flushes, α uniform in [0, {@link #SPREAD}). */
    private static int expectedTogether(Diagnosis diagnosis) {
        int base = diagnosis.triggers().lowest();
        double sum = 0;
        for (int offset = 0; offset < SPREAD; offset++) {
            sum += 1.0 / (base + offset);
        }
        return (int) Math.max(1, Math.round(diagnosis.instances().size() * sum / SPREAD));
    }

    private static Advice delay(Diagnosis diagnosis, long holdMicros) {
        Rhythm rhythm = diagnosis.rhythm();
        String reason =
                "if triggers alone are not enough: compactions run during %d of %d bursts of flushes; held back, they begin when the queue of the burst is drained"
                        .formatted(rhythm.burstsWithCompactions(), rhythm.bursts());
        return EngineSettings.of(diagnosis.engine())
                .delay()
                .advice("delay_compactions", reason, holdMicros / 1000);
    }

    private static Advice threads(Diagnosis diagnosis, int limit) {
        String reason =
                "latency begins to rise steeply above %d compactions at once (knee)"
                        .formatted(limit);
        return EngineSettings.of(diagnosis.engine())
                .threads()
                .advice("compaction_threads", reason, limit);
    }

    /** Flushes of a burst, one after the other. */
    private static boolean waitForEachOther(Diagnosis diagnosis) {
        return diagnosis.rhythm().bursts() > 0
                && diagnosis.rhythm().burstMicros() >= LONG_BURST_MICROS
                && diagnosis.overlap().mostFlushes() == 1;
    }

    private static Advice flushes(Diagnosis diagnosis) {
        String reason =
                "flushes run one after the other, for %.1f s after a checkpoint or commit (P90), and what waits for the last one stands still as long"
                        .formatted(diagnosis.rhythm().burstMicros() / 1e6);
        return EngineSettings.of(diagnosis.engine()).flushes().advice("flush_threads", reason, 0);
    }
}
