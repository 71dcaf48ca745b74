package io.afterbay.flink.it;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Compares outputs as multisets: a doubled line is as wrong as a missing one. */
final class Multiset {
    private static final int SHOWN = 10;

    private Multiset() {}

    /**
     * @throws AssertionError with the first lines that differ and how often each was found
     */
    static void assertEqual(Collection<String> expected, Collection<String> actual) {
        TreeMap<String, Integer> surplus = new TreeMap<>();
        actual.forEach(line -> surplus.merge(line, 1, Integer::sum));
        expected.forEach(line -> surplus.merge(line, -1, Integer::sum));
        surplus.values().removeIf(count -> count == 0);
        if (!surplus.isEmpty()) {
            throw new AssertionError(
                    "%d lines expected, %d found; %d differ:%n%s"
                            .formatted(
                                    expected.size(),
                                    actual.size(),
                                    surplus.size(),
                                    surplus.entrySet().stream()
                                            .limit(SHOWN)
                                            .map(Multiset::describe)
                                            .collect(Collectors.joining())));
        }
    }

    private static String describe(Map.Entry<String, Integer> line) {
        int count = line.getValue();
        return "%s %d times: %s%n"
                .formatted(count < 0 ? "missing" : "too many", Math.abs(count), line.getKey());
    }
}
