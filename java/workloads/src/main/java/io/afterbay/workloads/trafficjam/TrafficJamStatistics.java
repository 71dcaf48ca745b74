package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.EpochClock;
import io.afterbay.workloads.run.RunStatistics;
import io.afterbay.workloads.run.Schedule;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;

/** The figures of a run with what this job rejects and ranks. Latencies: {@link LatencyMeter}. */
public final class TrafficJamStatistics extends RunStatistics {
    private static final ConcurrentMap<String, TrafficJamStatistics> RUNS =
            new ConcurrentHashMap<>();

    private final LongAdder arrivals = new LongAdder();
    private volatile Schedule schedule = Schedule.NONE;
    private volatile double linesPerSecond;
    private volatile long linesMax;
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

    /**
     * Reports of the open loop that are due and have not reached their streets, those in the
     * network included; 0 without a schedule. For a job that was not restarted.
     */
    public long waiting() {
        return Schedule.NONE.equals(schedule)
                ? 0
                : Math.max(0, due() - late - malformed - arrivals.sum());
    }

    private long due() {
        return Math.min(linesMax, schedule.dueLines(EpochClock.micros(), linesPerSecond));
    }

    void scheduled(Schedule newSchedule, TrafficJamOptions options) {
        linesPerSecond = options.linesPerSecond();
        linesMax = options.linesMax();
        schedule = newSchedule;
    }

    /** A report has reached the state of its street, so long after its stamp. */
    void arrived(long micros) {
        arrivals.increment();
        observer().arrived(micros);
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
