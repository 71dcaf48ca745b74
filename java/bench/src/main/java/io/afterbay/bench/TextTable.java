package io.afterbay.bench;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Rows of words in columns of equal width: the first column to the left, the others to the right.
 */
final class TextTable {
    private static final String GAP = "  ";
    private final List<List<String>> rows = new ArrayList<>();

    TextTable(List<String> header) {
        rows.add(header);
    }

    /** With as many words as the header. */
    void row(List<String> words) {
        rows.add(words);
    }

    @Override
    public String toString() {
        return rows.stream().map(row -> line(row) + "\n").collect(joining());
    }

    private String line(List<String> row) {
        return IntStream.range(0, row.size())
                .mapToObj(column -> padded(row.get(column), column))
                .collect(joining(GAP));
    }

    private String padded(String word, int column) {
        String spaces = " ".repeat(width(column) - word.length());
        return column == 0 ? word + spaces : spaces + word;
    }

    private int width(int column) {
        return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    }
}
