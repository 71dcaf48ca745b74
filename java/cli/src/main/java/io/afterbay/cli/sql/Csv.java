package io.afterbay.cli.sql;

import static java.time.format.DateTimeFormatter.ISO_LOCAL_TIME;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/**
 * Rows as CSV (RFC 4180): NULL is an empty field, bytes are hexadecimal, a timestamp has a space
 * between date and time.
 */
final class Csv {
    private Csv() {}

    static String header(List<String> columns, boolean changes) {
        List<String> names = new ArrayList<>(columns);
        if (changes) {
            names.add(0, "op");
        }
        return names.stream().map(Csv::quoted).collect(Collectors.joining(","));
    }

    /**
     * @param change whether the first field is the kind of change: +I, -U, +U or -D
     */
    static String line(Row row, boolean change) {
        String fields =
                IntStream.range(0, row.getArity())
                        .mapToObj(i -> quoted(text(row.getField(i))))
                        .collect(Collectors.joining(","));
        return change ? row.getKind().shortString() + "," + fields : fields;
    }

    private static String text(@Nullable Object value) {
        if (value == null) {
            return "";
        }
        if (value instanceof byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        }
        if (value instanceof LocalDateTime time) {
            return time.toLocalDate() + " " + ISO_LOCAL_TIME.format(time);
        }
        if (value instanceof Object[] values) {
            return Arrays.stream(values).map(Csv::text).toList().toString();
        }
        return value.toString();
    }

    private static String quoted(String text) {
        boolean plain = text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
    }
}
