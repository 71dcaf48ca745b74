package io.afterbay.experiments.storm;

import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How fast the share of a task follows its speed.
 *
 * <pre>
 *   share
 *   before  ------+                          +------
 *                  \  90 % is lost          / 90 % is back
 *   during          +----------------------+
 *                 from                   until         seconds
 * </pre>
 *
 * Before and during are means of the second half of their time. A mark is passed when three seconds
 * together are beyond it, and at the end of these three: single seconds vary.
 *
 * @param percentBySecond share of the task in each second from the start
 * @param from second in which it becomes slow
 * @param until second in which it recovers
 */
record ShareShift(List<Double> percentBySecond, int from, int until) {
    private static final double PART = 0.9;
    private static final int TOGETHER_S = 3;

    /** What loses less has not shifted. */
    private static final double LOST_MIN = 0.25;

    /** Seconds until it has lost nine tenths; null if it has not. */
    @Nullable Double shiftS() {
        double mark = before() - PART * lost();
        return hasShifted() ? seconds(from, until, share -> share <= mark) : null;
    }

    /** Seconds until nine tenths are back; null if they are not, or nothing was lost. */
    @Nullable Double backS() {
        double mark = during() + PART * lost();
        return hasShifted() ? seconds(until, percentBySecond.size(), share -> share >= mark) : null;
    }

    private boolean hasShifted() {
        return lost() >= LOST_MIN * before();
    }

    private double lost() {
        return before() - during();
    }

    private double before() {
        return mean(from / 2, from);
    }

    private double during() {
        return mean((from + until) / 2, until);
    }

    private double mean(int begin, int end) {
        return IntStream.range(begin, Math.min(end, percentBySecond.size()))
                .mapToDouble(percentBySecond::get)
                .average()
                .orElse(0);
    }

    /** Of a share. */
    @FunctionalInterface
    private interface Mark {
        boolean isPassedBy(double share);
    }

    private @Nullable Double seconds(int begin, int end, Mark mark) {
        for (int second = begin; second + TOGETHER_S <= end; second++) {
            if (mark.isPassedBy(mean(second, second + TOGETHER_S))) {
                return (double) (second + TOGETHER_S - begin);
            }
        }
        return null;
    }
}
