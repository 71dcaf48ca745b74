package io.afterbay.replay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.TimestampAssignerSupplier;
import org.apache.flink.api.common.eventtime.WatermarkAlignmentParams;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.runtime.operators.TimestampsAndWatermarksOperatorFactory;
import org.jspecify.annotations.Nullable;

/**
 * Takes idleness out of the watermarks of a job. Who is held back has nothing to give for a while
 * and would become idle; the first that goes on would then move the watermark by itself, and make
 * the records of all others late. A replay does not need idleness, since what it reads ends.
 */
final class Idleness {
    private static final String STRATEGIES = "org.apache.flink.api.common.eventtime.";
    private static final String STRATEGY = "watermarkStrategy";
    private static final String SQL_TIMEOUT = "idleTimeout";

    private Idleness() {}

    /** Returns the strategy itself if there is none in it. */
    static <T> WatermarkStrategy<T> without(WatermarkStrategy<T> strategy)
            throws ReplayRefusedException {
        return switch (strategy.getClass().getName()) {
            case STRATEGIES + "WatermarkStrategyWithIdleness" ->
                    without(base(strategy, "baseStrategy"));
            case STRATEGIES + "WatermarkStrategyWithTimestampAssigner" -> assigning(strategy);
            case STRATEGIES + "WatermarksWithWatermarkAlignment" -> aligned(strategy);
            default -> strategy;
        };
    }

    @SuppressWarnings("unchecked") // It assigns to what the strategy is of.
    private static <T> WatermarkStrategy<T> assigning(WatermarkStrategy<T> strategy)
            throws ReplayRefusedException {
        WatermarkStrategy<T> base = base(strategy, "baseStrategy");
        WatermarkStrategy<T> other = without(base);
        return other == base
                ? strategy
                : other.withTimestampAssigner(
                        (TimestampAssignerSupplier<T>)
                                Fields.required(strategy, "timestampAssigner"));
    }

    private static <T> WatermarkStrategy<T> aligned(WatermarkStrategy<T> strategy)
            throws ReplayRefusedException {
        WatermarkStrategy<T> base = base(strategy, "strategy");
        WatermarkStrategy<T> other = without(base);
        WatermarkAlignmentParams params = strategy.getAlignmentParameters();
        return other == base
                ? strategy
                : other.withWatermarkAlignment(
                        params.getWatermarkGroup(),
                        Duration.ofMillis(params.getMaxAllowedWatermarkDrift()),
                        Duration.ofMillis(params.getUpdateInterval()));
    }

    @SuppressWarnings("unchecked") // It is of the same records.
    private static <T> WatermarkStrategy<T> base(WatermarkStrategy<T> strategy, String field)
            throws ReplayRefusedException {
        return (WatermarkStrategy<T>) Fields.required(strategy, field);
    }

    /** From all operators of a job that make watermarks; returns a line for each that had it. */
    static List<String> takeFrom(StreamGraph job) throws ReplayRefusedException {
        List<String> lines = new ArrayList<>();
        for (StreamNode node : job.getStreamNodes()) {
            StreamOperatorFactory<?> other = without(node.getOperatorFactory());
            if (other != null) {
                node.setOperatorFactory(other);
                lines.add("watermarks of '%s': never idle".formatted(node.getOperatorName()));
            }
        }
        return lines;
    }

    /** Null if there is none in it. */
    private static @Nullable StreamOperatorFactory<?> without(
            @Nullable StreamOperatorFactory<?> factory) throws ReplayRefusedException {
        if (factory instanceof TimestampsAndWatermarksOperatorFactory<?>) {
            WatermarkStrategy<?> strategy =
                    (WatermarkStrategy<?>) Fields.required(factory, STRATEGY);
            WatermarkStrategy<?> other = without(strategy);
            return other == strategy ? null : with(factory, STRATEGY, other);
        }
        return factory != null
                        && RowTime.isAssignedBy(factory)
                        && (long) Fields.required(factory, SQL_TIMEOUT) > 0
                ? with(factory, SQL_TIMEOUT, 0L)
                : null;
    }

    /** The job was built of the original, and may be built of it again. */
    private static StreamOperatorFactory<?> with(
            StreamOperatorFactory<?> factory, String field, Object value)
            throws ReplayRefusedException {
        StreamOperatorFactory<?> copy = Fields.copy(factory);
        Fields.set(copy, field, value);
        return copy;
    }
}
