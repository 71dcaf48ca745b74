package io.afterbay.cli.doctor.analysis;

import io.afterbay.cli.doctor.reading.InstanceLog;
import io.afterbay.cli.doctor.reading.Intervals;
import java.util.ArrayList;
import java.util.List;

/** Compactions and flushes that run over time, for a chart. */
public final class Concurrency {
    private final Steps compactions;
    private final Steps flushes;

    private Concurrency(Steps compactions, Steps flushes) {
        this.compactions = compactions;
        this.flushes = flushes;
    }

    /** So many run from that time on. */
    public record Point(long micros, int compactions, int flushes) {}

    public static Concurrency of(List<InstanceLog> instances) {
        Intervals compactions = new Intervals();
        Intervals flushes = new Intervals();
        instances.forEach(instance -> compactions.addAll(instance.compactions()));
        instances.forEach(instance -> flushes.addAll(instance.flushes()));
        return new Concurrency(Steps.of(compactions), Steps.of(flushes));
    }

    /**
     * In the order of time. If there are more steps than points, each point is the highest count of
     * an equal part of the time.
     */
    public List<Point> downsampled(int pointsMax) {
        int all = compactions.size() + flushes.size();
        return all <= pointsMax ? exact() : parts(pointsMax);
    }

    private List<Point> exact() {
        List<Point> result = new ArrayList<>();
        int c = 0;
        int f = 0;
        while (c < compactions.size() || f < flushes.size()) {
            long time = Math.min(timeOf(compactions, c), timeOf(flushes, f));
            c += timeOf(compactions, c) == time ? 1 : 0;
            f += timeOf(flushes, f) == time ? 1 : 0;
            result.add(new Point(time, before(compactions, c), before(flushes, f)));
        }
        return result;
    }

    private static long timeOf(Steps steps, int step) {
        return step < steps.size() ? steps.time(step) : Long.MAX_VALUE;
    }

    private static int before(Steps steps, int step) {
        return step == 0 ? 0 : steps.count(step - 1);
    }

    private List<Point> parts(int points) {
        long from = Math.min(timeOf(compactions, 0), timeOf(flushes, 0));
        long to = Math.max(lastOf(compactions), lastOf(flushes));
        long width = (to - from) / points + 1;
        List<Point> result = new ArrayList<>();
        for (long time = from; time <= to; time += width) {
            result.add(
                    new Point(
                            time,
                            compactions.mostIn(time, time + width),
                            flushes.mostIn(time, time + width)));
        }
        return result;
    }

    private static long lastOf(Steps steps) {
        return steps.size() == 0 ? Long.MIN_VALUE : steps.time(steps.size() - 1);
    }
}
