package io.afterbay.doctor.report;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Cells as lines of a terminal, each column as wide as its longest cell. */
final class Columns {
    private Columns() {}

    /**
     * The lines, indented.
     *
     * @param rows the names first; all of the same length
     * @param left columns that begin at their left, beside the first; others end at their right
     */
    static List<String> lines(List<List<String>> rows, Integer... left) {
        Set<Integer> leftOnes = new TreeSet<>(List.of(left));
        leftOnes.add(0);
        return rows.stream().map(row -> line(row, rows, leftOnes)).toList();
    }

    private static String line(List<String> row, List<List<String>> rows, Set<Integer> left) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < row.size(); i++) {
            int column = i;
            int width = rows.stream().mapToInt(one -> one.get(column).length()).max().orElse(1);
            String padding = " ".repeat(width - row.get(i).length());
            line.append("  ")
                    .append(left.contains(i) ? row.get(i) + padding : padding + row.get(i));
        }
        return line.toString().stripTrailing();
    }
}
