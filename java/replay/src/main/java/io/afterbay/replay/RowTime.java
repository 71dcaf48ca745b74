package io.afterbay.replay;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.apache.flink.api.common.eventtime.TimestampAssigner;
import org.apache.flink.api.common.eventtime.TimestampAssignerSupplier;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * The time of a row of SQL whose table has a WATERMARK FOR one of its own columns: what is in that
 * column. A TIMESTAMP without a zone is taken to be UTC, as the operator that makes the watermarks
 * takes it. Flink's classes for SQL are met by their names.
 */
final class RowTime<T> implements TimestampAssignerSupplier<T> {
    private static final long serialVersionUID = 1;

    private static final String ASSIGNER =
            "org.apache.flink.table.runtime.operators.wmassigners.WatermarkAssignerOperatorFactory";
    private static final String ROW = "org.apache.flink.table.data.RowData";

    /** Milliseconds, which is the most that a column of a watermark may have. */
    private static final int PRECISION = 3;

    private final int column;

    private RowTime(int column) {
        this.column = column;
    }

    /** Whether an operator makes watermarks from a column of rows. */
    static boolean isAssignedBy(StreamOperatorFactory<?> factory) {
        return factory.getClass().getName().equals(ASSIGNER);
    }

    /**
     * @param factory of an operator right behind the source: its columns are those of the source
     */
    static <T> RowTime<T> of(StreamOperatorFactory<?> factory) throws ReplayRefusedException {
        return new RowTime<>((int) Fields.required(factory, "rowtimeFieldIndex"));
    }

    static boolean isRow(Object record) {
        return rowType(record.getClass()) != null;
    }

    private static @Nullable Class<?> rowType(@Nullable Class<?> type) {
        if (type == null || type.getName().equals(ROW)) {
            return type;
        }
        for (Class<?> above : type.getInterfaces()) {
            Class<?> found = rowType(above);
            if (found != null) {
                return found;
            }
        }
        return rowType(type.getSuperclass());
    }

    @Override
    public TimestampAssigner<T> createTimestampAssigner(Context context) {
        return new OfColumn();
    }

    private final class OfColumn implements TimestampAssigner<T> {
        private @Nullable Method isNull;
        private @Nullable Method timestamp;
        private @Nullable Method millisecond;

        @Override
        public long extractTimestamp(T row, long ownMs) {
            try {
                return ms(row);
            } catch (InvocationTargetException e) {
                throw new FlinkRuntimeException("column " + column + " has no time", e.getCause());
            } catch (ReflectiveOperationException e) {
                throw new FlinkRuntimeException("a row of another version of Flink", e);
            }
        }

        private long ms(T row) throws ReflectiveOperationException {
            Method nulls = isNull;
            Method times = timestamp;
            Method ms = millisecond;
            if (nulls == null || times == null || ms == null) {
                Class<?> type = rowType(row.getClass());
                if (type == null) {
                    throw new NoSuchMethodException(row.getClass() + " is no row");
                }
                nulls = isNull = type.getMethod("isNullAt", int.class);
                times = timestamp = type.getMethod("getTimestamp", int.class, int.class);
                ms = millisecond = times.getReturnType().getMethod("getMillisecond");
            }
            return (boolean) nulls.invoke(row, column)
                    ? TimestampAssigner.NO_TIMESTAMP
                    : (long) ms.invoke(times.invoke(row, column, PRECISION));
        }
    }
}
