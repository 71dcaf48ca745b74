package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.Intervals;
import java.util.Arrays;
import java.util.Collection;

/**
 * How many pieces of work are under way over time: a function that steps at each begin and end.
 * What ends at the moment at which another begins does not overlap it.
 */
public final class Steps {
    private final long[] times;
    private final int[] counts;

    private Steps(long[] times, int[] counts) {
        this.times = times;
        this.counts = counts;
    }

    static Steps of(Intervals intervals) {
        long[] starts = intervals.sortedStarts();
        long[] ends = intervals.sortedEnds();
        long[] times = new long[starts.length + ends.length];
        int[] counts = new int[times.length];
        int size = 0;
        for (int s = 0, e = 0; e < ends.length; ) {
            long time = s < starts.length ? Math.min(starts[s], ends[e]) : ends[e];
            while (e < ends.length && ends[e] == time && e < s) {
                e++;
            }
            while (s < starts.length && starts[s] == time) {
                s++;
            }
            while (e < ends.length && ends[e] == time && e < s) {
                e++; // begun and ended at once
            }
            times[size] = time;
            counts[size++] = s - e;
        }
        return new Steps(Arrays.copyOf(times, size), Arrays.copyOf(counts, size));
    }

    /** How many of several are at work; one counts once, however many pieces it does at a time. */
    static Steps ofEach(Collection<Intervals> workers) {
        Intervals all = new Intervals();
        workers.forEach(worker -> all.addAll(worker.union()));
        return of(all);
    }

    public int size() {
        return times.length;
    }

    /** When the step is. */
    public long time(int step) {
        return times[step];
    }

    /** From that step to the next. */
    public int count(int step) {
        return counts[step];
    }

    int at(long time) {
        int step = Sorted.floor(times, time);
        return step < 0 ? 0 : counts[step];
    }

    /** The time of the first step after that time; the end of all times if there is none. */
    long nextAfter(long time) {
        int step = Sorted.floor(times, time) + 1;
        return step < times.length ? times[step] : Long.MAX_VALUE;
    }

    int most() {
        return Arrays.stream(counts).max().orElse(0);
    }

    /** The highest count from one time to another, the latter excluded. */
    int mostIn(long from, long to) {
        return at(mostAt(from, to));
    }

    /** The first time of the highest count from one time to another, the latter excluded. */
    long mostAt(long from, long to) {
        long best = from;
        int most = at(from);
        for (int step = Sorted.floor(times, from) + 1;
                step < times.length && times[step] < to;
                step++) {
            if (counts[step] > most) {
                most = counts[step];
                best = times[step];
            }
        }
        return best;
    }

    /** The time within the limits during which the count is at least that high. */
    long timeAtLeast(int count, long from, long to) {
        long sum = 0;
        for (int step = Math.max(0, Sorted.floor(times, from));
                step < times.length && times[step] < to;
                step++) {
            if (counts[step] >= count) {
                sum += Math.max(0, Math.min(to, endOf(step)) - Math.max(from, times[step]));
            }
        }
        return sum;
    }

    /** The integral of the count: the time of work. */
    double work() {
        double sum = 0;
        for (int step = 0; step < times.length; step++) {
            sum += (double) counts[step] * (endOf(step) - times[step]);
        }
        return sum;
    }

    /** How many others are under way beside one, in the mean over the time of work. */
    double meanOthers() {
        double sum = 0;
        for (int step = 0; step < times.length; step++) {
            double count = counts[step];
            sum += count * (count - 1) * (endOf(step) - times[step]);
        }
        double all = work();
        return all == 0 ? 0 : sum / all;
    }

    /** The part of the time of work during which the other count is at least that high. */
    double workWhile(Steps other, int count) {
        double together = 0;
        int theirs = 0;
        for (int step = 0; step < times.length; step++) {
            long from = times[step];
            long to = endOf(step);
            while (theirs < other.times.length && other.endOf(theirs) <= from) {
                theirs++;
            }
            for (int i = theirs; i < other.times.length && other.times[i] < to; i++) {
                if (other.counts[i] >= count) {
                    long begin = Math.max(from, other.times[i]);
                    together += (double) counts[step] * (Math.min(to, other.endOf(i)) - begin);
                }
            }
        }
        double all = work();
        return all == 0 ? 0 : together / all;
    }

    private long endOf(int step) {
        return step + 1 < times.length ? times[step + 1] : times[step];
    }
}
