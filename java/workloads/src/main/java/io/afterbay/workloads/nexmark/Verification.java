package io.afterbay.workloads.nexmark;

import io.afterbay.workloads.run.RowSum;
import io.afterbay.workloads.run.WorkloadException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Compares rows with the right answer as multisets: a row that is missing, wrong or there twice is
 * found, whatever the order. Equal sets are recognised by their {@link RowSum}; what differs is
 * then found part by part, so that memory holds a part of the rows only.
 *
 * @param rows how many rows the right answer has
 * @param missing rows that should be there and are not, counted once per lack
 * @param surplus rows that are there and should not, counted once per excess
 * @param examples of both, a few
 */
public record Verification(long rows, long missing, long surplus, List<String> examples) {
    private static final int EXAMPLES = 5;
    private static final int PART_ROWS = 200_000;

    /** Whether the rows are right. */
    public boolean isEqual() {
        return missing == 0 && surplus == 0;
    }

    /** Compares the output file of a run with the answer of the query's reference. */
    public static Verification ofFile(NexmarkOptions options, Path file) throws IOException {
        RowSum right = new RowSum();
        expected(options, right::add);
        RowSum given = new RowSum();
        found(options, file, given::add);
        return right.equals(given)
                ? new Verification(right.rows(), 0, 0, List.of())
                : difference(options, file, right.rows());
    }

    private static Verification difference(NexmarkOptions options, Path file, long rows)
            throws IOException {
        int parts = Math.toIntExact(rows / PART_ROWS + 1);
        long missing = 0;
        long surplus = 0;
        List<String> examples = new ArrayList<>();
        for (int part = 0; part < parts; part++) {
            Balance balance = new Balance(part, parts);
            expected(options, row -> balance.add(row, 1));
            found(options, file, row -> balance.add(row, -1));
            missing += balance.missing();
            surplus += balance.surplus();
            balance.describe(EXAMPLES - examples.size(), examples);
        }
        return new Verification(rows, missing, surplus, List.copyOf(examples));
    }

    private static void expected(NexmarkOptions options, Consumer<String> rows) {
        options.query().reference().run(options, row -> rows.accept(row.csv()));
    }

    private static void found(NexmarkOptions options, Path file, Consumer<String> rows)
            throws IOException {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            String header = lines.readLine();
            if (!options.query().header().equals(header)) {
                throw new WorkloadException(
                        file
                                + " is no output of "
                                + options.query()
                                + ": it begins with "
                                + header);
            }
            lines.lines().forEach(rows);
        }
    }

    /** How many more of a row were expected than found, for the rows of one part. */
    private static final class Balance {
        private final Map<String, Integer> open = new HashMap<>();
        private final int part;
        private final int parts;

        Balance(int part, int parts) {
            this.part = part;
            this.parts = parts;
        }

        void add(String row, int count) {
            if (Math.floorMod(row.hashCode(), parts) == part) {
                open.merge(row, count, (a, b) -> a + b == 0 ? null : a + b);
            }
        }

        long missing() {
            return open.values().stream().mapToLong(count -> Math.max(count, 0)).sum();
        }

        long surplus() {
            return open.values().stream().mapToLong(count -> Math.max(-count, 0)).sum();
        }

        void describe(int limit, List<String> examples) {
            open.entrySet().stream().limit(limit).map(Balance::describe).forEach(examples::add);
        }

        private static String describe(Map.Entry<String, Integer> row) {
            int count = row.getValue();
            return row.getKey() + (count > 0 ? " missing " : " too often ") + Math.abs(count);
        }
    }
}
