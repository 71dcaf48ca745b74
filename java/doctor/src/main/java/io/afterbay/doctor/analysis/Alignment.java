package io.afterbay.doctor.analysis;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.InstanceName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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
 * (section 3.3). Column families of one instance are no pair: they flush together by design, and
 * have one trigger. No pair is formed: for any group, the sum over its pairs is the square of the
 * sum minus the sum of squares, slot by slot, so the cost is column families times slots.
 */
final class Alignment {
    private final Slots slots;
    private final Group all;
    private final Map<String, Group> stages = new TreeMap<>();

    private Alignment(Slots slots) {
        this.slots = slots;
        this.all = new Group(slots.size());
    }

    static Alignment of(List<ColumnFamilyLog> families, Slots slots) {
        Alignment result = new Alignment(slots.fineFor(families));
        Map<InstanceName, List<ColumnFamilyLog>> byInstance =
                families.stream()
                        .collect(
                                groupingBy(
                                        ColumnFamilyLog::instance, LinkedHashMap::new, toList()));
        byInstance.forEach(result::add);
        return result;
    }

    private void add(InstanceName instance, List<ColumnFamilyLog> families) {
        Sums own = new Sums(slots.size());
        families.forEach(family -> add(family, own));
        if (own.members > 0) {
            all.add(own);
            stages.computeIfAbsent(instance.stage(), stage -> new Group(slots.size())).add(own);
        }
    }

    private void add(ColumnFamilyLog family, Sums sums) {
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
        sums.add(used, from, to, part);
    }

    /** Empty if stages have too few pairs of instances that compact now and then. */
    OptionalDouble withinStages() {
        return score(withinAll());
    }

    /** Empty if there are too few such pairs of different stages. */
    OptionalDouble acrossStages() {
        return score(all.pairs().minus(withinAll()));
    }

    private Pairs withinAll() {
        return stages.values().stream().map(Group::pairs).reduce(Pairs.NONE, Pairs::plus);
    }

    /** The score of one stage; empty if it has too few pairs of instances. */
    OptionalDouble within(String stage) {
        Group group = stages.get(stage);
        return group == null ? OptionalDouble.empty() : score(group.pairs());
    }

    List<String> stages() {
        return new ArrayList<>(stages.keySet());
    }

    private static OptionalDouble score(Pairs pairs) {
        return pairs.deviation < 1e-9 || pairs.instances < Verdict.MIN_PAIRS
                ? OptionalDouble.empty()
                : OptionalDouble.of(Math.max(0, Math.min(1, pairs.covariance / pairs.deviation)));
    }

    /**
     * Sums over pairs.
     *
     * @param instances how many pairs of instances there are
     */
    private record Pairs(double covariance, double deviation, long instances) {
        static final Pairs NONE = new Pairs(0, 0, 0);

        Pairs plus(Pairs other) {
            return new Pairs(
                    covariance + other.covariance,
                    deviation + other.deviation,
                    instances + other.instances);
        }

        Pairs minus(Pairs other) {
            return plus(new Pairs(-other.covariance, -other.deviation, -other.instances));
        }
    }

    /** Instances, of which each two are a pair. */
    private static final class Group {
        private final Sums sums;
        private Pairs ofOneInstance = Pairs.NONE;
        private long instances;

        Group(int slots) {
            sums = new Sums(slots);
        }

        void add(Sums instance) {
            sums.add(instance);
            ofOneInstance = ofOneInstance.plus(instance.pairs());
            instances++;
        }

        /** Of column families of different instances. */
        Pairs pairs() {
            return new Pairs(0, 0, instances * (instances - 1) / 2)
                    .plus(sums.pairs())
                    .minus(ofOneInstance);
        }
    }

    /** The sums over column families, slot by slot. */
    private static final class Sums {
        private final double[] differences;
        private final double[] squares;
        private final double[] deviations;
        private final double[] variances;
        private int members;

        Sums(int slots) {
            differences = new double[slots];
            squares = new double[slots];
            deviations = new double[slots];
            variances = new double[slots];
        }

        void add(int[] used, int from, int to, double part) {
            double variance = part * (1 - part);
            double deviation = Math.sqrt(variance);
            members++;
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

        void add(Sums other) {
            members += other.members;
            add(differences, other.differences);
            add(squares, other.squares);
            add(deviations, other.deviations);
            add(variances, other.variances);
        }

        private static void add(double[] values, double[] others) {
            for (int slot = 0; slot < values.length; slot++) {
                values[slot] += others[slot];
            }
        }

        /** Of each two column families. */
        Pairs pairs() {
            return new Pairs(
                    sumOfPairs(differences, squares), sumOfPairs(deviations, variances), 0);
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
