package io.afterbay.replay;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.operators.SourceOperatorFactory;
import org.jspecify.annotations.Nullable;

/**
 * What a source operator is made of. Flink keeps it to itself, so it is read from private fields.
 */
record SourceParts<T>(
        SourceOperatorFactory<T> factory,
        Source<T, ?, ?> source,
        WatermarkStrategy<T> watermarks,
        boolean emitsProgressiveWatermarks,
        int coordinatorThreads,
        @Nullable String coordinatorListener) {
    @SuppressWarnings("unchecked") // They are of the factory's type.
    static <T> SourceParts<T> of(SourceOperatorFactory<T> factory) throws ReplayRefusedException {
        return new SourceParts<>(
                factory,
                (Source<T, ?, ?>) known(factory, "source"),
                (WatermarkStrategy<T>) known(factory, "watermarkStrategy"),
                (boolean) known(factory, "emitProgressiveWatermarks"),
                (int) known(factory, "numCoordinatorWorkerThread"),
                (String) Fields.get(factory, "coordinatorListeningID"));
    }

    private static Object known(Object factory, String field) throws ReplayRefusedException {
        Object value = Fields.get(factory, field);
        if (value == null) {
            throw new ReplayRefusedException(
                    factory.getClass().getName() + " has no " + field + ": use Flink 2.3");
        }
        return value;
    }

    /** The same operator with another source and other watermarks. */
    SourceOperatorFactory<T> with(Source<T, ?, ?> other, WatermarkStrategy<T> otherWatermarks) {
        SourceOperatorFactory<T> changed =
                new SourceOperatorFactory<>(
                        other, otherWatermarks, emitsProgressiveWatermarks, coordinatorThreads);
        changed.setChainingStrategy(factory.getChainingStrategy());
        changed.setCoordinatorListeningID(coordinatorListener);
        return changed;
    }
}
