package io.afterbay.edge.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.plan.PlanTable.PlanColumn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultRowsTest {
    private static final PlanTable TABLE =
            new PlanTable(
                    "`t`",
                    "t",
                    List.of(
                            new PlanColumn("k", "STRING"),
                            new PlanColumn("n", "BIGINT"),
                            new PlanColumn("x", "DOUBLE")),
                    Map.of());

    @TempDir Path directory;
    private int tables;

    /** In files of one line, behind one that is not finished. */
    private ResultRows rows(String... lines) throws IOException {
        Path table = Files.createDirectory(directory.resolve("t" + tables++));
        Files.writeString(table.resolve(".part"), "{");
        for (int i = 0; i < lines.length; i++) {
            Files.writeString(table.resolve("part-" + i), lines[i] + "\n");
        }
        return ResultRows.read(TABLE, table);
    }

    private static String row(String key, String n, String x) {
        return "{\"k\":%s,\"n\":%s,\"x\":%s}".formatted(key, n, x);
    }

    @Test
    void orderDoesNotMatterAndNumbersOfEqualRowsDo() throws Exception {
        ResultRows rows = rows(row("\"a\"", "1", "0.5"), row("\"b\"", "2", "null"));
        assertThat(rows.difference(rows(row("\"b\"", "2", "null"), row("\"a\"", "1", "0.5"))))
                .isNull();
        ResultRows twice =
                rows(row("\"a\"", "1", "0.5"), row("\"a\"", "1", "0.5"), row("\"b\"", "2", "null"));
        assertThat(rows.difference(twice)).startsWith("0 rows of 2 are missing, 1 are more");
        assertThat(twice.difference(rows)).startsWith("1 rows of 3 are missing");
        assertThat(rows(row("\"a\"", "1", "0.5")).difference(rows())).startsWith("1 rows of 1");
    }

    @Test
    void doublesMayDifferALittleAndAllElseMustNot() throws Exception {
        ResultRows rows = rows(row("\"a\"", "10000000000", "1.0"));
        ResultRows near = rows(row("\"a\"", "10000000000", "1.0000000001"));
        assertThat(rows.difference(near)).isNull();
        assertThat(rows.difference(near, 0)).isNotNull();
        assertThat(rows.difference(rows(row("\"a\"", "10000000000", "1.00001")))).isNotNull();
        assertThat(rows.difference(rows(row("\"a\"", "10000000001", "1.0")))).isNotNull();
        assertThat(rows.difference(rows(row("\"a\"", "10000000000", "null")))).isNotNull();
    }

    @Test
    void signsOfZeroAndNanAreSeenWhereAllBitsCount() throws Exception {
        ResultRows minus = rows(row("null", "1", "-0.0"));
        assertThat(minus.difference(rows(row("null", "1", "0.0")))).isNull();
        assertThat(minus.difference(rows(row("null", "1", "0.0")), 0)).isNotNull();
        ResultRows nan = rows(row("null", "1", "\"NaN\""));
        assertThat(nan.difference(rows(row("null", "1", "\"NaN\"")), 0)).isNull();
        assertThat(nan.difference(minus)).isNotNull();
    }

    @Test
    void csvIsInOrderAndQuoted() throws Exception {
        assertThat(rows(row("\"b,\\\"\"", "1", "0.5"), row("null", "2", "null")).csv())
                .containsExactly("\"b,\"\"\",1,0.5", ",2,");
    }
}
