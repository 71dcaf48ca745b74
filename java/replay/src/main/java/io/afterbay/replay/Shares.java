package io.afterbay.replay;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Divides a rate among readers, so that those that have less to read than an equal part leave the
 * rest to the others. All shares together are never more than the rate.
 */
final class Shares {
    /** A reader that was not held back may grow by this much until it tells of itself again. */
    private static final double GROWTH = 1.5;

    /** Of an equal part: what a reader gets that has nothing to read as yet. */
    private static final double LEAST = 0.05;

    private Shares() {}

    /**
     * What a reader told of itself.
     *
     * @param recordsPerSecond that have passed lately
     * @param isHeldBack whether it would have read more
     */
    record Reader(double recordsPerSecond, boolean isHeldBack) {}

    /**
     * @param rate of all, in records per second
     * @param readers that have not ended, by subtask
     * @return records per second, by subtask
     */
    static Map<Integer, Double> of(double rate, Map<Integer, Reader> readers) {
        Map<Integer, Double> shares = new HashMap<>();
        if (rate == 0 || rate == Double.POSITIVE_INFINITY) {
            readers.keySet().forEach(subtask -> shares.put(subtask, rate));
            return shares;
        }
        double equal = rate / readers.size();
        boolean someoneWantsMore = readers.values().stream().anyMatch(Reader::isHeldBack);
        double left = rate;
        int behind = readers.size();
        for (Wish wish : wishes(readers, equal)) {
            double part = left / behind;
            double share = someoneWantsMore ? Math.min(wish.recordsPerSecond(), part) : part;
            shares.put(wish.subtask(), share);
            left -= share;
            behind--;
        }
        return shares;
    }

    private record Wish(int subtask, double recordsPerSecond) {}

    /** The most modest first: what one leaves goes to those behind it. */
    private static List<Wish> wishes(Map<Integer, Reader> readers, double equal) {
        return readers.entrySet().stream()
                .map(reader -> new Wish(reader.getKey(), wish(reader.getValue(), equal)))
                .sorted(Comparator.comparingDouble(Wish::recordsPerSecond))
                .toList();
    }

    private static double wish(Reader reader, double equal) {
        return reader.isHeldBack()
                ? Double.POSITIVE_INFINITY
                : Math.max(reader.recordsPerSecond() * GROWTH, equal * LEAST);
    }
}
