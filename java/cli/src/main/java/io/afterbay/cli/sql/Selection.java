package io.afterbay.cli.sql;

import io.afterbay.command.flink.sql.Statement;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.apache.flink.types.Row;

/**
 * Where the rows of one SELECT go.
 *
 * @param all whether the file gets all of them, or only those that are shown
 * @param sums whether what is left of them is identified
 */
record Selection(Statement statement, Path file, boolean all, boolean sums) {
    /** Rows that are shown to people. */
    static final int SHOWN_MAX = 20;

    RowSink sink(List<String> columns, boolean changes) {
        return new RowSink(
                file.toString(),
                Csv.header(columns, changes),
                changes,
                all ? Long.MAX_VALUE : SHOWN_MAX,
                sums);
    }

    /** Writes rows that have been fetched, as a sink would. */
    void write(Iterator<Row> rows, List<String> columns, boolean changes) throws IOException {
        sink(columns, changes).writeAll(rows);
    }

    long rows() {
        return RowSink.rows(file.toString());
    }

    String sum() {
        return RowSink.sum(file.toString());
    }

    /** The number of rows and, unless they are in a file of the user, the first ones as CSV. */
    void show(PrintStream out) throws IOException {
        String more = !all && rows() > SHOWN_MAX ? ", the first " + SHOWN_MAX + ":" : "";
        out.printf("SELECT in line %d: %,d rows%s%n", statement.line(), rows(), more);
        if (!all && Files.exists(file)) {
            try (BufferedReader lines = Files.newBufferedReader(file)) {
                lines.lines().forEach(line -> out.println("  " + line));
            }
        }
        out.flush();
    }
}
