package io.afterbay.workloads.trafficjam;

import java.util.HashSet;
import java.util.Set;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/**
 * Second stage, by street: the figures of one window from all its reports. The reports are kept as
 * a list until the window fires: appends, then one read of all keys together.
 */
public final class StreetWindow
        extends ProcessWindowFunction<Report, StreetFigures, String, TimeWindow> {
    private static final long serialVersionUID = 1;
    private static final long MILLIS_PER_SECOND = 1000;

    @Override
    public void process(
            String street,
            Context context,
            Iterable<Report> reports,
            Collector<StreetFigures> out) {
        out.collect(figures(context.window().getEnd() / MILLIS_PER_SECOND, street, reports));
    }

    private static StreetFigures figures(long windowEndS, String street, Iterable<Report> reports) {
        Set<String> cars = new HashSet<>();
        long count = 0;
        long speedSumDms = 0;
        Stamps stamps = Stamps.NONE;
        for (Report report : reports) {
            cars.add(report.car());
            count++;
            speedSumDms += report.speedDms();
            stamps = stamps.with(report);
        }
        return new StreetFigures(windowEndS, street, cars.size(), count, speedSumDms, stamps);
    }
}
