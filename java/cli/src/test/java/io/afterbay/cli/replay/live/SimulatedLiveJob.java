package io.afterbay.cli.replay.live;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;

/**
 * A live job that shares a machine with a replay, in steps of one sample. Its P99 grows like that
 * of a queue as the machine fills up, is measured with noise and over the samples of some time, and
 * is more than a queue when the machine cannot do both: then records pile up.
 */
final class SimulatedLiveJob {
    private static final double P99_ALONE_MS = 20;
    private static final int MEMORY = 4;

    private final double capacity;
    private final double noise;
    private final Random random;
    private final Deque<Double> latencies = new ArrayDeque<>();
    private double load;
    private double lag;

    /**
     * @param capacity of the machine, in records per second of either job
     * @param load of the live job
     * @param noise of a measured P99, as a share of it
     */
    SimulatedLiveJob(double capacity, double load, double noise, long seed) {
        this.capacity = capacity;
        this.load = load;
        this.noise = noise;
        this.random = new Random(seed);
    }

    void load(double newLoad) {
        load = newLoad;
    }

    /** Without noise, in the long run. */
    double p99Ms(double replayRate) {
        double used = Math.min(0.999, (load + replayRate) / capacity);
        return P99_ALONE_MS * (1 + 0.2 * Math.pow(used, 4) / (1 - used));
    }

    /** The largest rate at which its P99 is measured within a budget, whatever the noise. */
    double bearable(double budgetMs) {
        double low = 0;
        double high = capacity;
        for (int step = 0; step < 60; step++) {
            double middle = (low + high) / 2;
            if (p99Ms(middle) * (1 + noise) <= budgetMs) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    LiveSample next(double replayRate) {
        lag = Math.max(0, lag + load + replayRate - capacity);
        double now = p99Ms(replayRate) + lag / load * 1000;
        latencies.addLast(now * (1 + noise * (2 * random.nextDouble() - 1)));
        if (latencies.size() > MEMORY) {
            latencies.removeFirst();
        }
        double p99 = latencies.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
        return new LiveSample(p99, 0.02 * load + lag, null, load);
    }

    static int memory() {
        return MEMORY;
    }
}
