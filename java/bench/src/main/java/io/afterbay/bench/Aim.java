package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import java.util.Comparator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.stream.Stream;

/**
 * What is aimed at, and what was measured of it.
 *
 * @param measure what is measured, and where
 * @param goal what it should be, in words
 * @param moreIsBetter whether a value should be at least the bound, or else at most
 * @param least below which it is not met either, where something should stay the same; else 0
 * @param unit behind a value: {@code x}, {@code ms}
 * @param values one for each setting in which it can be told; none if nothing is recorded
 * @param untold settings that ran and in which it cannot be told, each with the reason
 * @param command that measures it
 * @param isHeadline whether it is the most important one of its part, which is on the project's
 *     first page
 */
public record Aim(
        String measure,
        String goal,
        boolean moreIsBetter,
        double bound,
        double least,
        String unit,
        List<Value> values,
        List<String> untold,
        String command,
        boolean isHeadline) {

    /** How many values are shown one by one. */
    private static final int SHOWN_MAX = 3;

    /** One that is not on the first page. */
    public Aim(
            String measure,
            String goal,
            boolean moreIsBetter,
            double bound,
            String unit,
            List<Value> values,
            String command) {
        this(measure, goal, moreIsBetter, bound, 0, unit, values, List.of(), command, false);
    }

    /** The same, on the first page. */
    public Aim asHeadline() {
        return new Aim(
                measure, goal, moreIsBetter, bound, least, unit, values, untold, command, true);
    }

    /** The same of what should not change: less than that is no better than too much. */
    public Aim andAtLeast(double lowest) {
        return new Aim(
                measure,
                goal,
                moreIsBetter,
                bound,
                lowest,
                unit,
                values,
                untold,
                command,
                isHeadline);
    }

    /** The same with the settings in which it cannot be told, each with the reason. */
    public Aim butNotIn(List<String> settings) {
        return new Aim(
                measure,
                goal,
                moreIsBetter,
                bound,
                least,
                unit,
                values,
                settings,
                command,
                isHeadline);
    }

    /**
     * One measured value.
     *
     * @param setting in which it was measured: a query, a size
     * @param evidence what it rests on
     */
    public record Value(String setting, double value, Evidence evidence) {}

    /** Whether something is recorded of it. */
    public boolean isMeasured() {
        return !values.isEmpty();
    }

    private boolean isMetBy(Value one) {
        return one.value >= least && (moreIsBetter ? one.value >= bound : one.value <= bound);
    }

    /** In how many settings it is met. */
    long met() {
        return values.stream().filter(this::isMetBy).count();
    }

    /** An item of a list: what is aimed at, and how often it is met. */
    String item() {
        return "- Aim: %s. %s\n".formatted(goal, count());
    }

    /** A sentence: how often it is met, and where that cannot be told. */
    String count() {
        return values.isEmpty()
                ? "Not measured%s.".formatted(exceptions())
                : "Met by %d of %d%s.".formatted(met(), values.size(), exceptions());
    }

    private String exceptions() {
        return untold.isEmpty()
                ? ""
                : "; nothing to compare with in %d more: %s"
                        .formatted(untold.size(), String.join(", ", untold));
    }

    /** A field of a table beside the measure, which is not said twice. */
    String goalOfMeasure() {
        String prefix = measure + ": ";
        return goal.startsWith(prefix) ? goal.substring(prefix.length()) : goal;
    }

    /** A field of a table: met, by how many, or not measured. */
    public String verdict() {
        if (!isMeasured()) {
            return "not measured";
        }
        if (values.size() == 1) {
            return met() == 1 ? "met" : "**not met**";
        }
        String verdict = "met by %d of %d".formatted(met(), values.size());
        return met() == values.size() ? verdict : "**" + verdict + "**";
    }

    /** A field of a table: the values, or the worst and the best of many. */
    public String measured() {
        return shown() + exceptions();
    }

    private String shown() {
        if (values.size() <= SHOWN_MAX) {
            return values.isEmpty()
                    ? ResultsPage.MISSING
                    : values.stream().map(this::text).collect(joining(", "));
        }
        Comparator<Value> byBadness = Comparator.comparingDouble(this::badness);
        return "worst %s, best %s"
                .formatted(
                        text(values.stream().max(byBadness).orElseThrow()),
                        text(values.stream().min(byBadness).orElseThrow()));
    }

    /** How far it is from what is best: as much, as little, or no change at all. */
    private double badness(Value one) {
        if (least > 0) {
            return Math.abs(Math.log(one.value));
        }
        return moreIsBetter ? -one.value : one.value;
    }

    /** Whether something is recorded of it, and not all of that meets it. */
    boolean isMissed() {
        return met() < values.size();
    }

    /** A field of a table: how many pairs the values rest on, the fewest and the most. */
    String pairs() {
        LongSummaryStatistics pairs =
                values.stream().mapToLong(one -> one.evidence.pairs()).summaryStatistics();
        if (values.isEmpty()) {
            return ResultsPage.MISSING;
        }
        String fewest = Evidence.pairs(pairs.getMin());
        return pairs.getMin() == pairs.getMax()
                ? fewest
                : "%s, to %d".formatted(fewest, pairs.getMax());
    }

    /** The revisions at which the values were recorded, each once. */
    Stream<String> revisions() {
        return values.stream().map(one -> one.evidence.revision()).distinct();
    }

    private String text(Value one) {
        return "%s%s (%s)".formatted(Numbers.format(one.value), unit, one.setting);
    }
}
