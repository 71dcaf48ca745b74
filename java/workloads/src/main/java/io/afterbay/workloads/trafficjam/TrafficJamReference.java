package io.afterbay.workloads.trafficjam;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The right answer, computed in plain Java from the definition: no engine, no state store,
 * everything in memory. Tests compare the job's output with it.
 */
public final class TrafficJamReference {

    private static final class Street {
        private final Set<String> cars = new HashSet<>();
        private long reports;
        private long speedSumDms;
    }

    private final Map<Long, Map<String, Street>> windows = new TreeMap<>();
    private long maxTimeS = Long.MIN_VALUE / 2;
    private long minTimeS = Long.MAX_VALUE;
    private long accepted;
    private long late;
    private long malformed;

    private TrafficJamReference() {}

    /** Reads a trace file once and keeps all windows. */
    public static TrafficJamReference read(TraceFile trace) throws IOException {
        TrafficJamReference reference = new TrafficJamReference();
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(trace.open(0), StandardCharsets.UTF_8))) {
            in.readLine();
            in.lines().forEach(reference::add);
        }
        return reference;
    }

    private void add(String line) {
        Report report = ReportParser.parse(line).report();
        if (report == null) {
            malformed++;
        } else if (report.timeS() < maxTimeS - 5) {
            late++;
        } else {
            accept(report);
        }
    }

    private void accept(Report report) {
        accepted++;
        maxTimeS = Math.max(maxTimeS, report.timeS());
        minTimeS = Math.min(minTimeS, report.timeS());
        Street street =
                windows.computeIfAbsent(report.timeS() / 10 * 10 + 10, end -> new HashMap<>())
                        .computeIfAbsent(report.street(), name -> new Street());
        street.cars.add(report.car());
        street.reports++;
        street.speedSumDms += report.speedDms();
    }

    /** The lines of the output without its header, for a trace that is replayed so often. */
    public List<String> lines(int repeat) {
        long periodS = maxTimeS / 10 * 10 + 10 - minTimeS / 10 * 10;
        List<String> lines = new ArrayList<>();
        for (int pass = 0; pass < repeat; pass++) {
            long shiftS = pass * periodS;
            windows.forEach(
                    (end, streets) ->
                            rank(end + shiftS, streets).forEach(row -> lines.add(row.csv())));
        }
        return lines;
    }

    private static List<RankingRow> rank(long endS, Map<String, Street> streets) {
        List<StreetFigures> figures = new ArrayList<>();
        streets.forEach(
                (name, street) ->
                        figures.add(
                                new StreetFigures(
                                        endS,
                                        name,
                                        street.cars.size(),
                                        street.reports,
                                        street.speedSumDms,
                                        Stamps.NONE)));
        return RankingRow.rank(figures);
    }

    public long accepted() {
        return accepted;
    }

    public long late() {
        return late;
    }

    public long malformed() {
        return malformed;
    }
}
