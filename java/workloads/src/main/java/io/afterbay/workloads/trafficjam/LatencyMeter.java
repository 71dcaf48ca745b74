package io.afterbay.workloads.trafficjam;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Two figures per result, in the order of the windows:
 *
 * <ul>
 *   <li>latency: result time minus the stamp of the last report that contributed. It includes the
 *       five seconds of event time in which late reports may still come.
 *   <li>delay: result time minus the stamp of the report that ended this wait. It is what engine
 *       and store take. The report lies in a later window, so the figure is known with that one;
 *       results at the end of the input wait for nobody and have none.
 * </ul>
 */
final class LatencyMeter {
    private record Result(long windowEndS, long micros) {}

    private final TrafficJamStatistics statistics;
    private final Deque<Result> unclosed = new ArrayDeque<>();

    LatencyMeter(TrafficJamStatistics statistics) {
        this.statistics = statistics;
    }

    void result(List<RankingRow> rows, Stamps stamps, long nowMicros) {
        long windowEndS = rows.get(0).figures().windowEndS();
        while (!unclosed.isEmpty() && isClosed(unclosed.peek(), windowEndS, stamps)) {
            unclosed.remove();
        }
        unclosed.add(new Result(windowEndS, nowMicros));
        statistics.ranking(rows, nowMicros - stamps.lastMicros());
    }

    private boolean isClosed(Result result, long windowEndS, Stamps stamps) {
        long closingMicros = stamps.closingMicros(windowEndS - result.windowEndS());
        if (closingMicros == Long.MAX_VALUE) {
            return false;
        }
        // A result that came before its closing report came with the end of the input.
        if (result.micros() >= closingMicros) {
            statistics.delay(result.micros() - closingMicros);
        }
        return true;
    }
}
