package io.afterbay.cli.doctor.analysis;

import io.afterbay.cli.doctor.reading.ColumnFamilyLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * Whether column families compact at the same checkpoints.
 *
 * <p>Time is cut into {@link Slots}, one flush of a column family each. For column family i, let
 * x<sub>is</sub> be 1 if a compaction of it begins in slot s, else 0; p<sub>i</sub> the mean of
 * x<sub>is</sub> over the slots from its first flush to its last; and σ<sub>i</sub>² =
 * p<sub>i</sub>(1 - p<sub>i</sub>). The score of a set of pairs is
 *
 * <pre>
 *          Σ(pairs i, j) Σ(slots s of both)  (x_is - p_i) (x_js - p_j)
 *  score = ------------------------------------------------------------
 *          Σ(pairs i, j) Σ(slots s of both)        σ_i σ_j
 * </pre>
 *
 * the mean correlation of two column families, weighted by how much each of them varies. If all
 * compact in the same slots, it is 1. If each one's phase is independent of the others' and any
 * shift is as likely as another, its expectation is 0; that is the reason for correlations rather
 * than for counts of overlaps, which also rise with the number and the length of compactions. Below
 * 0 (they avoid each other, as with triggers dealt out in turn) counts as 0.
 *
 * <p>Pairs of one stage give {@link #withinStages}, the paper's <i>scheduled</i> ShadowSync
 * (section 3.2); pairs of different stages give {@link #acrossStages}, its <i>statistical</i> one
 * (section 3.3). No pair is formed: for any group, the sum over its pairs is the square of the sum
 * minus the sum of squares, slot by slot, so the cost is column families times slots.
 */
final class Alignment {
    private final Slots slots;
    private final Sums all;
    private final Map<String, Sums> stages = new TreeMap<>();
    private double withinCovariance;
    private double withinDeviation;

    private Alignment(Slots slots) {
        this.slots = slots;
        this.all = new Sums(slots.size());
    }

    static Alignment of(List<ColumnFamilyLog> families, Slots slots) {
        Alignment result = new Alignment(slots.fineFor(families));
        families.forEach(result::add);
        for (Sums stage : result.stages.values()) {
            result.withinCovariance += stage.covariance();
            result.withinDeviation += stage.deviation();
        }
        return result;
    }

    private void add(ColumnFamilyLog family) {
        int[] used = slots.slotsWithStart(family.compactions());
        if (used.length == 0) {
            return;
        }
        long[] flushes = family.flushes().sortedStarts();
        int first = flushes.length == 0 ? used[0] : Math.min(used[0], slots.of(flushes[0]));
        int last = used[used.length - 1];
        if (flushes.length > 0) {
            last = Math.max(last, slots.of(flushes[flushes.length - 1]));
        }
        int from = Math.max(0, first);
        int to = Math.min(slots.size(), last + 1);
        double part = (double) used.length / (to - from);
        all.add(used, from, to, part);
        stages.computeIfAbsent(family.instance().stage(), stage -> new Sums(slots.size()))
                .add(used, from, to, part);
    }

    /** Empty if no stage has two column families that compact now and then. */
    OptionalDouble withinStages() {
        return score(withinCovariance, withinDeviation);
    }

    /** Empty if there are no two such stages. */
    OptionalDouble acrossStages() {
        return stages.size() < 2
                ? OptionalDouble.empty()
                : score(all.covariance() - withinCovariance, all.deviation() - withinDeviation);
    }

    /** The score of one stage; empty if it has no two column families that compact now and then. */
    OptionalDouble within(String stage) {
        Sums sums = stages.get(stage);
        return sums == null ? OptionalDouble.empty() : score(sums.covariance(), sums.deviation());
    }

    List<String> stages() {
        return new ArrayList<>(stages.keySet());
    }

    private static OptionalDouble score(double covariance, double deviation) {
        return deviation < 1e-9
                ? OptionalDouble.empty()
                : OptionalDouble.of(Math.max(0, Math.min(1, covariance / deviation)));
    }

    /** The sums over a group, slot by slot. */
    private static final class Sums {
        private final double[] differences;
        private final double[] squares;
        private final double[] deviations;
        private final double[] variances;

        Sums(int slots) {
            differences = new double[slots];
            squares = new double[slots];
            deviations = new double[slots];
            variances = new double[slots];
        }

        void add(int[] used, int from, int to, double part) {
            double variance = part * (1 - part);
            double deviation = Math.sqrt(variance);
            int next = 0;
            for (int slot = from; slot < to; slot++) {
                boolean isUsed = next < used.length && used[next] == slot;
                next += isUsed ? 1 : 0;
                double difference = (isUsed ? 1 : 0) - part;
                differences[slot] += difference;
                squares[slot] += difference * difference;
                deviations[slot] += deviation;
                variances[slot] += variance;
            }
        }

        double covariance() {
            return sumOfPairs(differences, squares);
        }

        double deviation() {
            return sumOfPairs(deviations, variances);
        }

        private static double sumOfPairs(double[] values, double[] squares) {
            double sum = 0;
            for (int slot = 0; slot < values.length; slot++) {
                sum += values[slot] * values[slot] - squares[slot];
            }
            return sum;
        }
    }
}
