package io.afterbay.stragglers;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/** Events in simulated time, in the order in which they are due. */
final class VirtualTime {
    static final long MILLIS = 1_000_000;
    static final long SECONDS = 1_000_000_000;

    private record Event(long nanos, long order, Runnable action) {}

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(
                    Comparator.comparingLong(Event::nanos).thenComparingLong(Event::order));
    private long order;
    private long now;

    long now() {
        return now;
    }

    void after(long nanos, Runnable action) {
        events.add(new Event(now + nanos, order++, action));
    }

    void runUntil(long end) {
        while (!events.isEmpty() && events.peek().nanos <= end) {
            Event event = events.remove();
            now = event.nanos;
            event.action.run();
        }
        now = end;
    }

    /** Does something again and again, at random times: a Poisson process. */
    void repeat(SplittableRandom random, double perSecond, Runnable action) {
        after(
                exponential(random, SECONDS / perSecond),
                () -> {
                    action.run();
                    repeat(random, perSecond, action);
                });
    }

    static long exponential(SplittableRandom random, double mean) {
        return (long) (-mean * Math.log1p(-random.nextDouble()));
    }
}
