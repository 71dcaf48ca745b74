package io.afterbay.replay;

import java.util.ArrayDeque;
import java.util.Deque;

/** How much a growing count has grown per second in the last five seconds, or since a restart. */
final class RecentRate {
    private static final long WINDOW_NANOS = 5_000_000_000L;

    private record Sample(long nanos, long count) {}

    private final Deque<Sample> samples = new ArrayDeque<>();

    /** What was read again after a failure may make the count go back; then it begins anew. */
    void sample(long nanos, long count) {
        Sample last = samples.peekLast();
        if (last != null && count < last.count()) {
            samples.clear();
        }
        samples.addLast(new Sample(nanos, count));
        while (samples.size() > 2 && nanos - samples.peekFirst().nanos() > WINDOW_NANOS) {
            samples.removeFirst();
        }
    }

    /** What was before the last sample says nothing about what comes. */
    void restart() {
        Sample last = samples.peekLast();
        samples.clear();
        if (last != null) {
            samples.addLast(last);
        }
    }

    /** 0 until there are two samples. */
    double perSecond() {
        Sample first = samples.peekFirst();
        Sample last = samples.peekLast();
        if (first == null || last == null || last.nanos() <= first.nanos()) {
            return 0;
        }
        return (last.count() - first.count()) * 1e9 / (last.nanos() - first.nanos());
    }
}
