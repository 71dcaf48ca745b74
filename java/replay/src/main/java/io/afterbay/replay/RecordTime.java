package io.afterbay.replay;

import java.io.Serializable;
import org.apache.flink.api.common.eventtime.RecordTimestampAssigner;
import org.apache.flink.api.common.eventtime.TimestampAssigner;
import org.apache.flink.api.common.eventtime.TimestampAssignerSupplier;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.jspecify.annotations.Nullable;

/**
 * Which time a record of a source has: the one that the source's watermark strategy assigns, or
 * that which an operator right behind the source assigns, over the source's own.
 *
 * @param atSource the watermark strategy of the source
 * @param behind that of the operator behind it, if there is one
 */
record RecordTime<T>(WatermarkStrategy<T> atSource, @Nullable TimestampAssignerSupplier<T> behind)
        implements Serializable {
    TimestampAssigner<T> assigner(TimestampAssignerSupplier.Context context) {
        TimestampAssigner<T> first = atSource.createTimestampAssigner(context);
        if (behind == null) {
            return first;
        }
        TimestampAssigner<T> second = behind.createTimestampAssigner(context);
        return (record, ms) -> second.extractTimestamp(record, first.extractTimestamp(record, ms));
    }

    /** Whether the job assigns one; if not, it is up to the source. */
    boolean isAssigned() {
        return assigns(atSource) || (behind != null && assigns(behind));
    }

    private static boolean assigns(TimestampAssignerSupplier<?> times) {
        return !(times.createTimestampAssigner(UnregisteredMetricsGroup::new)
                instanceof RecordTimestampAssigner);
    }
}
