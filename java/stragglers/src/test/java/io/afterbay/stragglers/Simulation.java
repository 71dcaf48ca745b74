package io.afterbay.stragglers;

import static io.afterbay.stragglers.VirtualTime.MILLIS;
import static io.afterbay.stragglers.VirtualTime.SECONDS;

import java.util.Arrays;
import org.HdrHistogram.Histogram;

/** What is measured in simulated time: latencies, and who did how much. */
abstract class Simulation {
    final VirtualTime time = new VirtualTime();
    final Histogram latencies = new Histogram(1_000, 10_000 * SECONDS, 2);

    /** Tuples by who did them. */
    final long[] done;

    Simulation(int count) {
        done = new long[count];
    }

    /** Runs on for some time, and forgets what was measured before. */
    final void run(long nanos) {
        latencies.reset();
        Arrays.fill(done, 0);
        time.runUntil(time.now() + nanos);
    }

    final double share(int of) {
        return (double) done[of] / Arrays.stream(done).sum();
    }

    final double latencyMillis(double percentile) {
        return (double) latencies.getValueAtPercentile(percentile) / MILLIS;
    }
}
