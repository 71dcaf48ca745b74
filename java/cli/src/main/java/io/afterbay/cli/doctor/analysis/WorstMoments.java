package io.afterbay.cli.doctor.analysis;

import io.afterbay.cli.doctor.reading.LatencyLog;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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

    private WorstMoments() {}

    static List<WorstMoment> find(
            Slots slots,
            Steps flushes,
            Steps compactions,
            Steps instances,
            @Nullable LatencyLog latency) {
        List<WorstMoment> result = new ArrayList<>();
        for (int slot = 0; slot < slots.size(); slot++) {
            long from = slots.start(slot);
            long to = slots.end(slot);
            if (compactions.mostIn(from, to) > 0) {
                result.add(
                        new WorstMoment(
                                compactions.mostAt(from, to),
                                compactions.mostIn(from, to),
                                instances.mostIn(from, to),
                                flushes.mostIn(from, to),
                                instances.timeAtLeast(1, from, to),
                                worst(latency, from, to)));
            }
        }
        result.sort(WORST_FIRST);
        return List.copyOf(result.subList(0, Math.min(MAX, result.size())));
    }

    private static @Nullable Double worst(@Nullable LatencyLog latency, long from, long to) {
        if (latency == null) {
            return null;
        }
        double worst = LatencyAnalysis.worst(latency, from, to);
        return worst < 0 ? null : worst;
    }

    private static double latency(WorstMoment moment) {
        Double latency = moment.latencyMs();
        return latency == null ? 0 : latency;
    }
}
