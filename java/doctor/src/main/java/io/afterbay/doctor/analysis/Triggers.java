package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * How many files of level 0 start a compaction: by stage, how many column families have which
 * value. The value is that of the option dump; without a dump, the median of the files that the
 * compactions took.
 */
public record Triggers(Map<String, Map<Integer, Integer>> byStage) {
    private static final int DEFAULT = 4;

    static Triggers of(List<ColumnFamilyLog> families) {
        Map<String, Map<Integer, Integer>> result = new TreeMap<>();
        for (ColumnFamilyLog family : families) {
            of(family)
                    .ifPresent(
                            trigger ->
                                    result.computeIfAbsent(
                                                    family.instance().stage(),
                                                    stage -> new TreeMap<>())
                                            .merge(trigger, 1, Integer::sum));
        }
        return new Triggers(result);
    }

    /** Of one column family; empty if nothing tells. */
    public static OptionalInt of(ColumnFamilyLog family) {
        return family.trigger().isPresent() ? family.trigger() : family.filesPerCompaction();
    }

    /** Whether the column families of any stage, or of stages, have different triggers. */
    public boolean differ() {
        return values().size() > 1;
    }

    /**
     * Whether instances of the same stage have different triggers; if no stage has several, whether
     * stages have. Stages that differ do not keep the instances of one stage apart.
     */
    public boolean areSpread() {
        boolean hasPeers =
                byStage.values().stream()
                        .anyMatch(
                                counts ->
                                        counts.values().stream().mapToInt(count -> count).sum()
                                                > 1);
        return hasPeers
                ? byStage.values().stream().anyMatch(counts -> counts.size() > 1)
                : differ();
    }

    public int lowest() {
        return values().isEmpty() ? DEFAULT : values().firstKey();
    }

    public int highest() {
        return values().isEmpty() ? DEFAULT : values().lastKey();
    }

    /** The number of column families by trigger. */
    public TreeMap<Integer, Integer> values() {
        TreeMap<Integer, Integer> result = new TreeMap<>();
        byStage.values()
                .forEach(
                        counts ->
                                counts.forEach(
                                        (trigger, count) ->
                                                result.merge(trigger, count, Integer::sum)));
        return result;
    }
}
