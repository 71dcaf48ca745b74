package io.afterbay.doctor.reading;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Begins and ends of many pieces of work, in microseconds since 1970. Not safe for threads. */
public final class Intervals {
    private long[] starts = new long[8];
    private long[] ends = new long[8];
    private int size;

    /** Appends one; an end before the start (a clock that was set back) counts as none. */
    public void add(long start, long end) {
        if (size == starts.length) {
            starts = Arrays.copyOf(starts, 2 * size);
            ends = Arrays.copyOf(ends, 2 * size);
        }
        starts[size] = start;
        ends[size] = Math.max(start, end);
        size++;
    }

    public void addAll(Intervals others) {
        for (int i = 0; i < others.size; i++) {
            add(others.starts[i], others.ends[i]);
        }
    }

    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    public long start(int i) {
        return starts[i];
    }

    public long end(int i) {
        return ends[i];
    }

    /** In the order of their begin: themselves, unless a clock was set back. */
    public Intervals inOrder() {
        for (int i = 1; i < size; i++) {
            if (starts[i] < starts[i - 1]) {
                return sortedCopy();
            }
        }
        return this;
    }

    private Intervals sortedCopy() {
        Intervals result = new Intervals();
        IntStream.range(0, size)
                .boxed()
                .sorted(Comparator.comparingLong(i -> starts[i]))
                .forEach(i -> result.add(starts[i], ends[i]));
        return result;
    }

    /** A copy, in order. */
    public long[] sortedStarts() {
        return sorted(starts);
    }

    /** A copy, in order; not that of the starts. */
    public long[] sortedEnds() {
        return sorted(ends);
    }

    private long[] sorted(long[] values) {
        long[] result = Arrays.copyOf(values, size);
        Arrays.sort(result);
        return result;
    }

    /** How long each took, in order. */
    public long[] sortedLengths() {
        long[] result = new long[size];
        for (int i = 0; i < size; i++) {
            result[i] = ends[i] - starts[i];
        }
        Arrays.sort(result);
        return result;
    }

    /** How many touch the time from a moment to another, the latter excluded. */
    public int countIn(long from, long to) {
        int count = 0;
        for (int i = 0; i < size; i++) {
            count += ends[i] >= from && starts[i] < to ? 1 : 0;
        }
        return count;
    }

    /** The time during which any of them is at work, as intervals in order that do not touch. */
    public Intervals union() {
        long[] byStart = sortedStarts();
        long[] byEnd = sortedEnds();
        Intervals result = new Intervals();
        int first = 0;
        for (int i = 0; i < size; i++) {
            // After as many ends as starts, nothing is at work until the next start.
            if (i == size - 1 || byStart[i + 1] > byEnd[i]) {
                result.add(byStart[first], byEnd[i]);
                first = i + 1;
            }
        }
        return result;
    }
}
