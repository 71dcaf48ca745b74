package io.afterbay.maintenance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.DoubleStream;

/**
 * How many compactions at once the latency bears (ShadowSync, section 4.2.2): the knee of tail
 * latency over running compactions, both seen in windows of 50 ms.
 *
 * <p>A window counts for the most tasks that ran in it, with the longest latency in it; a level of
 * concurrency has the median of its windows. Latency is taken not to fall with concurrency: levels
 * that contradict are averaged (isotonic regression), which is the smoothing that Kneedle asks for.
 * Windows without a running task say nothing about a limit and are left out.
 *
 * <p>Keeps the last windows only. No clock inside. Not safe for use by several threads.
 */
public final class ConcurrencyKnee {
    /** The paper's windows. */
    public static final long WINDOW_NANOS = 50_000_000;

    static final int MAX_WINDOWS = 8192;
    static final int MIN_WINDOWS_PER_LEVEL = 20;
    static final int MIN_LEVELS = 4;

    /** The least ratio of the highest to the lowest latency that is taken for an effect. */
    static final double MIN_RISE = 1.2;

    private final int[] running = new int[MAX_WINDOWS];
    private final long[] latencyNanos = new long[MAX_WINDOWS];
    private int next;
    private int size;
    private boolean isOpen;
    private long openSinceNanos;
    private int openRunning;
    private long openLatencyNanos;

    /** Why there is a limit, or none. */
    public enum Verdict {
        /** The limit is the knee. */
        KNEE,
        /** Fewer than four levels of concurrency were seen in twenty windows each. */
        TOO_LITTLE_DATA,
        /** Latency does not rise, or rises evenly: no limit is better than another. */
        NO_KNEE
    }

    /**
     * @param limit tasks at once; 0 unless the verdict is {@link Verdict#KNEE}
     */
    public record Recommendation(Verdict verdict, int limit) {}

    /**
     * What was seen at one moment.
     *
     * @param nowNanos any clock that does not go back
     * @param runningNow compactions at work
     * @param latency of an event or the longest of some, in nanoseconds
     */
    public void sample(long nowNanos, int runningNow, long latency) {
        if (isOpen && nowNanos - openSinceNanos >= WINDOW_NANOS) {
            keep(openRunning, openLatencyNanos);
            isOpen = false;
        }
        if (!isOpen) {
            isOpen = true;
            openSinceNanos = nowNanos;
            openRunning = 0;
            openLatencyNanos = 0;
        }
        openRunning = Math.max(openRunning, runningNow);
        openLatencyNanos = Math.max(openLatencyNanos, latency);
    }

    private void keep(int windowRunning, long windowLatencyNanos) {
        if (windowRunning > 0) {
            running[next] = windowRunning;
            latencyNanos[next] = windowLatencyNanos;
            next = (next + 1) % MAX_WINDOWS;
            size = Math.min(size + 1, MAX_WINDOWS);
        }
    }

    /** From the windows so far; the one that is still open does not count. */
    public Recommendation recommend() {
        TreeMap<Integer, Double> levels = levels();
        if (levels.size() < MIN_LEVELS) {
            return new Recommendation(Verdict.TOO_LITTLE_DATA, 0);
        }
        double[] x = levels.keySet().stream().mapToDouble(Integer::doubleValue).toArray();
        double[] y = increasing(levels.values());
        if (y[y.length - 1] < MIN_RISE * y[0]) {
            return new Recommendation(Verdict.NO_KNEE, 0);
        }
        return Kneedle.find(x, y, Kneedle.Shape.INCREASING_CONVEX, Kneedle.DEFAULT_SENSITIVITY)
                .stream()
                .mapToObj(i -> new Recommendation(Verdict.KNEE, (int) x[i]))
                .findFirst()
                .orElse(new Recommendation(Verdict.NO_KNEE, 0));
    }

    /** Latencies by concurrency, where enough windows were seen. */
    private TreeMap<Integer, Double> levels() {
        Map<Integer, List<Long>> windows = new TreeMap<>();
        for (int i = 0; i < size; i++) {
            windows.computeIfAbsent(running[i], level -> new ArrayList<>()).add(latencyNanos[i]);
        }
        TreeMap<Integer, Double> result = new TreeMap<>();
        windows.forEach(
                (level, latencies) -> {
                    if (latencies.size() >= MIN_WINDOWS_PER_LEVEL) {
                        result.put(level, median(latencies));
                    }
                });
        return result;
    }

    private static double median(List<Long> latencies) {
        long[] sorted = latencies.stream().mapToLong(Long::longValue).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1
                ? sorted[middle]
                : (sorted[middle - 1] + sorted[middle]) / 2.0;
    }

    /** The closest values that do not fall: neighbours that fall become their mean. */
    private static double[] increasing(Iterable<Double> values) {
        List<double[]> blocks = new ArrayList<>(); // mean, number of levels
        for (double value : values) {
            double[] block = {value, 1};
            while (!blocks.isEmpty() && blocks.get(blocks.size() - 1)[0] > block[0]) {
                double[] before = blocks.remove(blocks.size() - 1);
                double levels = before[1] + block[1];
                block[0] = (before[0] * before[1] + block[0] * block[1]) / levels;
                block[1] = levels;
            }
            blocks.add(block);
        }
        return blocks.stream().flatMapToDouble(ConcurrencyKnee::repeated).toArray();
    }

    private static DoubleStream repeated(double[] block) {
        double[] result = new double[(int) block[1]];
        Arrays.fill(result, block[0]);
        return Arrays.stream(result);
    }
}
