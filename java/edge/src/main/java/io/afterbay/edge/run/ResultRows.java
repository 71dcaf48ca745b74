package io.afterbay.edge.run;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.plan.PlanTable.PlanColumn;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.StringJoiner;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a result table as a multiset. Values must be the same to the last digit, except those
 * of DOUBLE and FLOAT columns: sums of them depend on the order in which they are added, which
 * differs with the place; they may differ by {@link #ERROR_MAX} of their size.
 */
public final class ResultRows {
    /** Of a double's size: a million additions that all round to the same side. */
    public static final double ERROR_MAX = 1e-9;

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * @param exact values of all columns as JSON; of those that are approximate a mark
     */
    private record ResultRow(List<String> exact, List<Double> approximate, String csv)
            implements Comparable<ResultRow> {
        private static final Comparator<Double> DOUBLES = Double::compare;

        @Override
        public int compareTo(ResultRow other) {
            int compared = compare(exact, other.exact, Comparator.naturalOrder());
            return compared != 0 ? compared : compare(approximate, other.approximate, DOUBLES);
        }

        private static <T> int compare(List<T> left, List<T> right, Comparator<T> comparator) {
            for (int i = 0; i < left.size(); i++) {
                int compared = comparator.compare(left.get(i), right.get(i));
                if (compared != 0) {
                    return compared;
                }
            }
            return 0;
        }

        boolean isEqual(ResultRow other, double error) {
            if (!exact.equals(other.exact)) {
                return false;
            }
            for (int i = 0; i < approximate.size(); i++) {
                if (!isClose(approximate.get(i), other.approximate.get(i), error)) {
                    return false;
                }
            }
            return true;
        }

        private static boolean isClose(double left, double right, double error) {
            return Double.compare(left, right) == 0
                    || (error > 0
                            && Math.abs(left - right)
                                    <= error * Math.max(Math.abs(left), Math.abs(right)));
        }

        @Override
        public String toString() {
            return exact + (approximate.isEmpty() ? "" : " " + approximate);
        }
    }

    private final List<ResultRow> rows;

    private ResultRows(List<ResultRow> rows) {
        this.rows = rows;
    }

    /** Reads the files that a sink has written into a directory; none is no rows. */
    public static ResultRows read(PlanTable table, Path directory) throws IOException {
        List<ResultRow> rows = new ArrayList<>();
        for (Path file : files(directory)) {
            try (BufferedReader lines = Files.newBufferedReader(file)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    rows.add(row(table, JSON.readTree(line)));
                }
            }
        }
        Collections.sort(rows);
        return new ResultRows(rows);
    }

    private static List<Path> files(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(file -> !file.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        }
    }

    private static ResultRow row(PlanTable table, JsonNode line) {
        List<String> exact = new ArrayList<>();
        List<Double> approximate = new ArrayList<>();
        StringJoiner csv = new StringJoiner(",");
        for (PlanColumn column : table.columns()) {
            JsonNode value = line.path(column.name());
            csv.add(isNull(value) ? "" : csv(value.asText()));
            if (column.isApproximate() && !isNull(value)) {
                approximate.add(Double.parseDouble(value.asText()));
                exact.add("~");
            } else {
                exact.add(value.toString());
            }
        }
        return new ResultRow(exact, approximate, csv.toString());
    }

    private static String csv(String text) {
        return text.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n')
                ? '"' + text.replace("\"", "\"\"") + '"'
                : text;
    }

    private static boolean isNull(JsonNode value) {
        return value.isNull() || value.isMissingNode();
    }

    /** The rows as CSV, in the order of their text. */
    public List<String> csv() {
        return rows.stream().map(ResultRow::csv).sorted().toList();
    }

    public int size() {
        return rows.size();
    }

    /** Where the rows are not those of another table; null if they are the same. */
    public @Nullable String difference(ResultRows other) {
        return difference(other, ERROR_MAX);
    }

    /**
     * The same with another bound.
     *
     * @param error of a double's size; with 0 they must be the same to the last bit
     */
    public @Nullable String difference(ResultRows other, double error) {
        List<ResultRow> missing = new ArrayList<>();
        List<ResultRow> more = new ArrayList<>();
        int i = 0;
        int j = 0;
        while (i < rows.size() || j < other.rows.size()) {
            if (i < rows.size()
                    && j < other.rows.size()
                    && rows.get(i).isEqual(other.rows.get(j), error)) {
                i++;
                j++;
            } else if (j == other.rows.size()
                    || (i < rows.size() && rows.get(i).compareTo(other.rows.get(j)) < 0)) {
                missing.add(rows.get(i++));
            } else {
                more.add(other.rows.get(j++));
            }
        }
        if (missing.isEmpty() && more.isEmpty()) {
            return null;
        }
        return "%,d rows of %,d are missing%s, %,d are more%s"
                .formatted(missing.size(), rows.size(), first(missing), more.size(), first(more));
    }

    private static String first(List<ResultRow> rows) {
        return rows.isEmpty() ? "" : " (the first: " + rows.get(0) + ")";
    }
}
