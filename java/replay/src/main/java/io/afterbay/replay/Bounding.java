package io.afterbay.replay;

import io.afterbay.replay.BoundedSource.Bounds;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceSplit;

/** Makes sources end, by what is known of their classes; refuses all others. */
final class Bounding {
    private static final String HYBRID =
            "org.apache.flink.connector.base.source.hybrid.HybridSource";
    private static final String HYBRID_PART = HYBRID + "$PassthroughSourceFactory";
    private static final String DYNAMIC_KAFKA =
            "org.apache.flink.connector.kafka.dynamic.source.DynamicKafkaSource";

    private final ReplayRange range;
    private final String replayId;

    Bounding(ReplayRange range, String replayId) {
        this.range = range;
        this.replayId = replayId;
    }

    /**
     * @param name of the source's operator
     */
    <T, SplitT extends SourceSplit, EnumT> BoundedSource<T, SplitT, EnumT> bound(
            Source<T, SplitT, EnumT> source, String name) throws ReplayRefusedException {
        if (Fields.isA(source, DYNAMIC_KAFKA)) {
            throw refusal(
                    source,
                    name,
                    "it follows topics from cluster to cluster, and which were read in the past is not known: replay the job with a KafkaSource of the topics of that time");
        }
        if (KafkaSources.isOne(source)) {
            return KafkaSources.bound(source, name, range, replayId);
        }
        if (FileSources.isOne(source) && FileSources.needsOrder(source)) {
            return files(source);
        }
        if (source.getBoundedness() == Boundedness.BOUNDED) {
            return byRecordTime(source, "as it is");
        }
        if (Fields.isA(source, HYBRID)) {
            return hybrid(source, name);
        }
        throw refusal(
                source,
                name,
                "it has no end, and none that is known could be given to it. What can be replayed: a KafkaSource, a FileSource, the bounded part of a HybridSource, and any source whose getBoundedness() is BOUNDED. Let the job read its past from files or from Kafka when it is replayed");
    }

    private <T, SplitT extends SourceSplit, EnumT> BoundedSource<T, SplitT, EnumT> byRecordTime(
            Source<T, SplitT, EnumT> source, String how) {
        return new BoundedSource<>(
                source, Bounds.RECORD_TIME, how + ", records by their time in " + range);
    }

    private <T, SplitT extends SourceSplit, EnumT> BoundedSource<T, SplitT, EnumT> files(
            Source<T, SplitT, EnumT> source) throws ReplayRefusedException {
        Source<T, SplitT, EnumT> copy = Fields.copy(source);
        FileSources.endInOrder(copy);
        return byRecordTime(
                copy,
                "lists its files once, reads them in the order of their last change, and then ends");
    }

    private <T, SplitT extends SourceSplit, EnumT> BoundedSource<T, SplitT, EnumT> hybrid(
            Source<T, SplitT, EnumT> source, String name) throws ReplayRefusedException {
        Source<T, SplitT, EnumT> copy = Fields.copy(source);
        List<Serializable> bounded = new ArrayList<>();
        List<?> originals = parts(source);
        List<?> copies = parts(copy);
        for (int i = 0; i < copies.size(); i++) {
            Object entry = copies.get(i);
            if (Fields.get(entry, "boundedness") == Boundedness.BOUNDED) {
                orderFiles(originals.get(i), entry);
                bounded.add((Serializable) entry);
            }
        }
        if (bounded.isEmpty()) {
            throw refusal(
                    source,
                    name,
                    "none of its parts is bounded: use its only part, by itself, as the source");
        }
        Fields.set(copy, "sources", bounded);
        return byRecordTime(
                copy,
                "only its bounded part, the first %d of its sources; what is in the last one alone is not replayed"
                        .formatted(bounded.size()));
    }

    private static List<?> parts(Object hybrid) throws ReplayRefusedException {
        return (List<?>) Fields.required(hybrid, "sources");
    }

    /** One that is made only when the one before it has ended is not known. */
    private static void orderFiles(Object part, Object copy) throws ReplayRefusedException {
        Object factory = Fields.required(part, "factory");
        if (!Fields.isA(factory, HYBRID_PART)) {
            return;
        }
        Object source = Fields.required(factory, "source");
        if (FileSources.isOne(source) && FileSources.needsOrder(source)) {
            FileSources.endInOrder(Fields.required(Fields.required(copy, "factory"), "source"));
        }
    }

    static ReplayRefusedException refusal(Object source, String name, String why) {
        return new ReplayRefusedException(
                "source '%s' (%s) cannot be replayed: %s"
                        .formatted(name, source.getClass().getName(), why));
    }
}
