package io.afterbay.edge.live;

import io.afterbay.edge.lines.ResultsDirectory.Complete;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * How old results are: over all moments of the sites' time, how long it takes from when all sites
 * have reached a moment until all results up to it are there. Milliseconds.
 */
public record Ages(double p50Ms, double p99Ms, double maxMs) {
    private static final int MOMENTS = 2_000;

    /**
     * @param complete what was there when, in order
     * @param happenedMs when a moment was reached
     * @return null if the results never got that far
     */
    static @Nullable Ages of(
            List<Complete> complete, long firstMs, long spanMs, LongToDoubleFunction happenedMs) {
        double[] ages = new double[MOMENTS];
        int next = 0;
        for (int i = 0; i < MOMENTS; i++) {
            long moment = firstMs + Math.round((double) spanMs * (i + 1) / MOMENTS);
            while (next < complete.size() && complete.get(next).watermarkMs() < moment) {
                next++;
            }
            if (next == complete.size()) {
                return null;
            }
            ages[i] = complete.get(next).timeMs() - happenedMs.applyAsDouble(moment);
        }
        Arrays.sort(ages);
        return new Ages(at(ages, 0.5), at(ages, 0.99), ages[MOMENTS - 1]);
    }

    private static double at(double[] sorted, double share) {
        return sorted[(int) Math.ceil(share * sorted.length) - 1];
    }
}
