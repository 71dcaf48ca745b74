package io.afterbay.replay;

import java.io.Serializable;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;

/**
 * A source of a job as it is replayed.
 *
 * @param source that ends
 * @param bounds how it was made to, which one must know to restore it
 * @param change what was done with it, for people
 */
record BoundedSource<T, SplitT extends SourceSplit, EnumT>(
        Source<T, SplitT, EnumT> source, Bounds bounds, String change) implements Serializable {
    /** What makes a source yield no more than the range. */
    enum Bounds {
        /** It ends by itself, and its records are looked at. */
        RECORD_TIME,
        /** Offsets of Kafka, by the time at which records entered the log. */
        KAFKA_OFFSETS
    }

    /** Whether it yields the range and nothing else. */
    boolean yieldsRange() {
        return bounds == Bounds.KAFKA_OFFSETS;
    }

    SplitEnumerator<SplitT, EnumT> restoreEnumerator(SplitContext<SplitT> context, EnumT checkpoint)
            throws Exception {
        return bounds == Bounds.KAFKA_OFFSETS
                ? KafkaPartitions.restore(source, context, checkpoint)
                : source.restoreEnumerator(context, checkpoint);
    }
}
