package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.Evidence;
import io.afterbay.doctor.reading.GcLog;
import io.afterbay.doctor.reading.LatencyLog;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The slots with the worst latency; without a latency log, those with the most compactions. */
final class WorstMoments {
    private static final int MAX = 5;

    private static final Comparator<WorstMoment> WORST_FIRST =
            Comparator.comparingDouble(WorstMoments::latency)
                    .thenComparingInt(WorstMoment::compactions)
                    .thenComparingInt(WorstMoment::flushes)
                    .thenComparingLong(WorstMoment::lastsMicros)
                    .reversed();

    private final Steps flushes;
    private final Steps compactions;
    private final Steps instances;
    private final Optional<LatencyLog> latency;
    private final Optional<Steps> pauses;

    private WorstMoments(Steps flushes, Steps compactions, Steps instances, Evidence evidence) {
        this.flushes = flushes;
        this.compactions = compactions;
        this.instances = instances;
        this.latency = evidence.latency();
        this.pauses = evidence.gc().map(GcLog::intervals).map(Steps::of);
    }

    static List<WorstMoment> find(
            Slots slots, Steps flushes, Steps compactions, Steps instances, Evidence evidence) {
        WorstMoments moments = new WorstMoments(flushes, compactions, instances, evidence);
        List<WorstMoment> result = new ArrayList<>();
        for (int slot = 0; slot < slots.size(); slot++) {
            moments.of(slots.start(slot), slots.end(slot)).ifPresent(result::add);
        }
        result.sort(WORST_FIRST);
        return List.copyOf(result.subList(0, Math.min(MAX, result.size())));
    }

    private Optional<WorstMoment> of(long from, long to) {
        int window = latency.map(log -> LatencyAnalysis.worst(log, from, to)).orElse(-1);
        if (window >= 0) {
            return latency.map(log -> ofWindow(log, window, from, to));
        }
        return compactions.mostIn(from, to) == 0
                ? Optional.empty()
                : Optional.of(moment(compactions.mostAt(from, to), from, to, from, to));
    }

    private WorstMoment ofWindow(LatencyLog log, int window, long from, long to) {
        long begin = LatencyAnalysis.begin(log, window);
        long end = LatencyAnalysis.end(log, window);
        WorstMoment moment = moment(log.start(window), begin, end, from, to);
        return new WorstMoment(
                moment.micros(),
                moment.compactions(),
                moment.instances(),
                moment.flushes(),
                moment.lastsMicros(),
                log.millis(window),
                moment.gcPauseMs(),
                known(log.cpu(window)),
                known(log.queue(window)));
    }

    private static @Nullable Double known(double value) {
        return Double.isNaN(value) ? null : value;
    }

    /** What runs from a begin to an end, within a slot. */
    private WorstMoment moment(long at, long begin, long end, long from, long to) {
        return new WorstMoment(
                at,
                compactions.mostIn(begin, end),
                instances.mostIn(begin, end),
                flushes.mostIn(begin, end),
                instances.timeAtLeast(1, from, to),
                null,
                pauses.map(steps -> steps.timeAtLeast(1, begin, end) / 1000.0).orElse(null),
                null,
                null);
    }

    private static double latency(WorstMoment moment) {
        Double latency = moment.latencyMs();
        return latency == null ? 0 : latency;
    }
}
