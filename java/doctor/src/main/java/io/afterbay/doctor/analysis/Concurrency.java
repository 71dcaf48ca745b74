package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.Intervals;
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
     * From a time to another, in their order. If there are more steps than points, each point is
     * the highest count of an equal part of the time.
     */
    public List<Point> between(long from, long to, int pointsMax) {
        if (from >= to) {
            return List.of();
        }
        List<Point> exact = exact(from, to, pointsMax);
        return exact.size() <= pointsMax ? exact : parts(from, to, pointsMax);
    }

    /** At most one point more than the limit. */
    private List<Point> exact(long from, long to, int limit) {
        List<Point> result = new ArrayList<>();
        long time = from;
        while (time < to && result.size() <= limit) {
            result.add(new Point(time, compactions.at(time), flushes.at(time)));
            time = Math.min(compactions.nextAfter(time), flushes.nextAfter(time));
        }
        return result;
    }

    private List<Point> parts(long from, long to, int points) {
        long width = (to - from + points - 1) / points;
        List<Point> result = new ArrayList<>();
        for (long time = from; time < to; time += width) {
            result.add(
                    new Point(
                            time,
                            compactions.mostIn(time, time + width),
                            flushes.mostIn(time, time + width)));
        }
        return result;
    }
}
