package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.RunStatistics;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The figures of a run with what this job rejects and ranks. Latencies: {@link LatencyMeter}. */
public final class TrafficJamStatistics extends RunStatistics {
    private static final ConcurrentMap<String, TrafficJamStatistics> RUNS =
            new ConcurrentHashMap<>();

    private volatile long late;
    private volatile long malformed;
    private volatile List<RankingRow> lastRanking = List.of();

    private TrafficJamStatistics() {}

    public static TrafficJamStatistics of(String run) {
        return RUNS.computeIfAbsent(run, ignored -> new TrafficJamStatistics());
    }

    /** Ends the sharing; operators that still hold the object do no harm. */
    public static void forget(String run) {
        RUNS.remove(run);
    }

    public long late() {
        return late;
    }

    public long malformed() {
        return malformed;
    }

    public List<RankingRow> lastRanking() {
        return lastRanking;
    }

    void counts(TraceProgress progress) {
        accepted(progress.accepted());
        late = progress.late();
        malformed = progress.malformed();
    }

    void ranking(List<RankingRow> rows, long latency) {
        lastRanking = List.copyOf(rows);
        rows.forEach(row -> observer().row(row::csv));
        resultNow();
        latency(latency);
    }

    void delay(long micros) {
        delayOf(micros);
        observer().result(micros);
    }
}
