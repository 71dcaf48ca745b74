package io.afterbay.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Compares the runs of one backend with those of the others, pair by pair: a pair shares the state
 * of the machine, so the ratio within it is steadier than a ratio of medians. Only finished runs
 * count: a failed one did less work.
 */
public final class Ratios {
    private static final String AFTERBAY = "afterbay";

    private Ratios() {}

    /**
     * {@code "afterbay/rocksdb"} to figure to ratio, for each backend that the first is compared
     * with. A figure is left out where no pair has it in both runs, or where the divisor is 0.
     */
    public static Map<String, Map<String, Ratio>> of(List<Run> runs) {
        Map<String, Map<String, Ratio>> ratios = new LinkedHashMap<>();
        for (String other : others(runs)) {
            ratios.put(ours(runs) + "/" + other, figures(runs, other));
        }
        return ratios;
    }

    /** The backend that the others are compared with: afterbay, or without it the first. */
    static String ours(List<Run> runs) {
        List<String> backends = backends(runs);
        return backends.contains(AFTERBAY) || backends.isEmpty() ? AFTERBAY : backends.get(0);
    }

    /** All other backends, in the order of their first run. */
    static List<String> others(List<Run> runs) {
        String ours = ours(runs);
        return backends(runs).stream().filter(backend -> !backend.equals(ours)).toList();
    }

    private static List<String> backends(List<Run> runs) {
        return runs.stream().map(Run::backend).distinct().toList();
    }

    private static Map<String, Ratio> figures(List<Run> runs, String other) {
        Map<String, Ratio> ratios = new LinkedHashMap<>();
        for (Figure figure : Figure.values()) {
            double[] values = values(runs, other, figure);
            if (values.length > 0) {
                ratios.put(figure.jsonName(), Ratio.of(values));
            }
        }
        return ratios;
    }

    /** The ratio of each pair that has one, in no order. */
    static double[] values(List<Run> runs, String other, Figure figure) {
        String ours = ours(runs);
        return runs.stream()
                .filter(run -> run.finished() && run.backend().equals(other))
                .flatMapToDouble(run -> ratio(partner(runs, ours, run.pair()), run, figure))
                .toArray();
    }

    private static @Nullable Run partner(List<Run> runs, String backend, int pair) {
        return runs.stream()
                .filter(run -> run.finished() && run.backend().equals(backend))
                .filter(run -> run.pair() == pair)
                .findFirst()
                .orElse(null);
    }

    private static DoubleStream ratio(@Nullable Run ours, Run other, Figure figure) {
        Double dividend = ours == null ? null : figure.of(ours);
        Double divisor = figure.of(other);
        if (dividend == null || divisor == null || divisor == 0) {
            return DoubleStream.empty();
        }
        return DoubleStream.of(dividend / divisor);
    }
}
