package io.afterbay.cli.compare;

import static java.util.stream.Collectors.joining;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Whether all runs gave the same rows, phase by phase. */
final class Outputs {
    /** Phase to rows to the backends that gave them. */
    private final Map<String, Map<String, Set<String>>> phases = new LinkedHashMap<>();

    /** Of all phases that were finished, also in runs that failed later. */
    Outputs(List<Findings> all) {
        for (Findings findings : all) {
            findings.rows().forEach((phase, rows) -> add(phase, rows, findings.run().backend()));
        }
    }

    private void add(String phase, String rows, String backend) {
        phases.computeIfAbsent(phase, ignored -> new LinkedHashMap<>())
                .computeIfAbsent(rows, ignored -> new TreeSet<>())
                .add(backend);
    }

    /** Null if no two backends can be compared. */
    @Nullable Boolean areEqual() {
        if (phases.values().stream().anyMatch(byRows -> byRows.size() > 1)) {
            return false;
        }
        boolean compared =
                phases.values().stream()
                        .flatMap(byRows -> byRows.values().stream())
                        .anyMatch(backends -> backends.size() > 1);
        return compared ? true : null;
    }

    /** Who differs from whom, a line for each phase in which somebody does. */
    List<String> differences() {
        return phases.entrySet().stream()
                .filter(phase -> phase.getValue().size() > 1)
                .map(phase -> phase.getKey() + ": " + describe(phase.getValue()))
                .toList();
    }

    private static String describe(Map<String, Set<String>> byRows) {
        return byRows.entrySet().stream()
                .map(rows -> String.join(", ", rows.getValue()) + " gave " + rows.getKey())
                .collect(joining("; "));
    }
}
