package io.afterbay.workloads.trafficjam;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * A line of the result.
 *
 * @param rank 1 for the street with the largest jam
 */
public record RankingRow(int rank, StreetFigures figures) {
    /** The first line of the output. */
    public static final String HEADER = "window_end_s,rank,street,cars,mean_speed_mps,jam";

    /** Streets per window. */
    public static final int STREETS = 5;

    /** The most jammed streets of one window, fewer if it has fewer. */
    public static List<RankingRow> rank(Collection<StreetFigures> window) {
        List<StreetFigures> sorted = window.stream().sorted(StreetFigures.BY_JAM).toList();
        List<RankingRow> rows = new ArrayList<>();
        for (StreetFigures figures : sorted.subList(0, Math.min(STREETS, sorted.size()))) {
            rows.add(new RankingRow(rows.size() + 1, figures));
        }
        return rows;
    }

    /** The line as it is written, without a line end. */
    public String csv() {
        return figures.windowEndS()
                + ","
                + rank
                + ","
                + figures.street()
                + ","
                + figures.cars()
                + ","
                + figures.meanSpeedMps().toPlainString()
                + ","
                + figures.jam().toPlainString();
    }
}
