package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.EpochClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.windowing.ProcessAllWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/** Third stage, one instance: the most jammed streets of a window, and how long they took. */
public final class Ranking extends ProcessAllWindowFunction<StreetFigures, RankingRow, TimeWindow> {
    private static final long serialVersionUID = 1;

    private final String run;
    private transient @Nullable LatencyMeter meter;

    public Ranking(String run) {
        this.run = run;
    }

    @Override
    public void open(OpenContext context) {
        meter = new LatencyMeter(TrafficJamStatistics.of(run));
    }

    @Override
    public void process(
            Context context, Iterable<StreetFigures> streets, Collector<RankingRow> out) {
        List<StreetFigures> window = new ArrayList<>();
        streets.forEach(window::add);
        List<RankingRow> rows = RankingRow.rank(window);
        rows.forEach(out::collect);
        Stamps stamps =
                window.stream().map(StreetFigures::stamps).reduce(Stamps.NONE, Stamps::with);
        Objects.requireNonNull(meter).result(rows, stamps, EpochClock.micros());
    }
}
