package io.afterbay.cli.sql;

import static org.apache.flink.table.api.Expressions.$;

import org.apache.flink.table.api.Table;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.expressions.Expression;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.apache.flink.table.types.logical.utils.LogicalTypeUtils;
import org.apache.flink.table.types.utils.TypeConversions;

/** Makes plain times of the times that say how far a stream is, of which it can have one only. */
final class TimeAttributes {
    private TimeAttributes() {}

    /** The same rows; if several columns are event times, as plain timestamps. */
    static Table plain(Table table) {
        long eventTimes =
                table.getResolvedSchema().getColumns().stream()
                        .filter(TimeAttributes::isEventTime)
                        .count();
        return eventTimes <= 1
                ? table
                : table.select(
                        table.getResolvedSchema().getColumns().stream()
                                .map(TimeAttributes::plain)
                                .toArray(Expression[]::new));
    }

    private static boolean isEventTime(Column column) {
        return LogicalTypeChecks.isRowtimeAttribute(type(column));
    }

    private static Expression plain(Column column) {
        if (!isEventTime(column)) {
            return $(column.getName());
        }
        LogicalType plain = LogicalTypeUtils.removeTimeAttributes(type(column));
        return $(column.getName())
                .cast(TypeConversions.fromLogicalToDataType(plain))
                .as(column.getName());
    }

    private static LogicalType type(Column column) {
        return column.getDataType().getLogicalType();
    }
}
