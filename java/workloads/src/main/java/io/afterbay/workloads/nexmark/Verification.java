package io.afterbay.workloads.nexmark;

import io.afterbay.workloads.run.WorkloadException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Compares rows with the right answer as multisets: a row that is missing, wrong or there twice is
 * found, whatever the order. Holds the rows that are not yet matched in memory.
 *
 * @param rows how many rows the right answer has
 * @param missing rows that should be there and are not, counted once per lack
 * @param surplus rows that are there and should not, counted once per excess
 * @param examples of both, a few
 */
public record Verification(long rows, long missing, long surplus, List<String> examples) {
    private static final int EXAMPLES = 5;

    /** Whether the rows are right. */
    public boolean isEqual() {
        return missing == 0 && surplus == 0;
    }

    /** Compares the output file of a run with the answer of the query's reference. */
    public static Verification ofFile(NexmarkOptions options, Path file) throws IOException {
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
            Balance balance = new Balance();
            options.query().reference().run(options, row -> balance.expected(row.csv()));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                balance.found(line);
            }
            return balance.verification();
        }
    }

    /** Compares rows in memory with the answer of the query's reference. */
    static Verification ofRows(NexmarkOptions options, Iterable<String> rows) {
        Balance balance = new Balance();
        options.query().reference().run(options, row -> balance.expected(row.csv()));
        rows.forEach(balance::found);
        return balance.verification();
    }

    /** How many more of a row were expected than found; rows in balance are not there. */
    private static final class Balance {
        private final Map<String, Integer> open = new HashMap<>();
        private long rows;

        void expected(String row) {
            rows++;
            add(row, 1);
        }

        void found(String row) {
            add(row, -1);
        }

        private void add(String row, int count) {
            open.merge(row, count, (a, b) -> a + b == 0 ? null : a + b);
        }

        Verification verification() {
            return new Verification(
                    rows,
                    open.values().stream().mapToLong(count -> Math.max(count, 0)).sum(),
                    open.values().stream().mapToLong(count -> Math.max(-count, 0)).sum(),
                    open.entrySet().stream().limit(EXAMPLES).map(Balance::describe).toList());
        }

        private static String describe(Map.Entry<String, Integer> row) {
            int count = row.getValue();
            return row.getKey() + (count > 0 ? " missing " : " too often ") + Math.abs(count);
        }
    }
}
