package io.afterbay.replay;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.runtime.operators.sink.CommitterOperatorFactory;
import org.apache.flink.streaming.runtime.operators.sink.SinkWriterOperatorFactory;
import org.jspecify.annotations.Nullable;

/**
 * Gives transactions of Kafka sinks names of their own. With those of the live job, the brokers
 * would take the replay for a newer instance of it and refuse the live job's writes.
 *
 * <p>What is put before the name, not behind it: a sink that pools its transactions aborts, when it
 * is restored, all open ones whose names begin with its own prefix, and that would be the replay's
 * when the live job is restored.
 */
final class KafkaSinks {
    private static final String SINK = "org.apache.flink.connector.kafka.sink.KafkaSink";
    private static final String UPSERT =
            "org.apache.flink.streaming.connectors.kafka.table.ReducingUpsertSink";
    private static final String PREFIX = "transactionalIdPrefix";

    private final String replayId;

    /** Writer and committer share one. */
    private final Map<Object, Object> copies = new IdentityHashMap<>();

    KafkaSinks(String replayId) {
        this.replayId = replayId;
    }

    /** Returns a line for each. */
    List<String> separate(StreamGraph job) throws ReplayRefusedException {
        List<String> lines = new ArrayList<>();
        for (StreamNode node : job.getStreamNodes()) {
            StreamOperatorFactory<?> factory = node.getOperatorFactory();
            if (factory instanceof SinkWriterOperatorFactory<?, ?>
                    || factory instanceof CommitterOperatorFactory<?>) {
                separate(factory, node.getOperatorName(), lines);
            }
        }
        return lines;
    }

    private void separate(StreamOperatorFactory<?> factory, String name, List<String> lines)
            throws ReplayRefusedException {
        Object sink = Fields.get(factory, "sink");
        if (!(sink instanceof Serializable original) || !isOne(sink)) {
            return;
        }
        Object copy = copies.get(sink);
        if (copy == null) {
            copy = Fields.copy(original);
            copies.put(sink, copy);
            String prefix = rename(unwrapped(copy), replayId);
            if (prefix != null) {
                lines.add("sink '%s': transactions of Kafka begin with %s".formatted(name, prefix));
            }
        }
        Fields.set(factory, "sink", copy);
    }

    static boolean isOne(Object sink) {
        return Fields.isA(sink, SINK) || Fields.isA(sink, UPSERT);
    }

    /** The KafkaSink itself. */
    static Object unwrapped(Object sink) throws ReplayRefusedException {
        return Fields.isA(sink, UPSERT) ? Fields.required(sink, "wrappedSink") : sink;
    }

    /** Returns the name, or null for a table of SQL without transactions, which has none. */
    private static @Nullable String rename(Object sink, String replayId)
            throws ReplayRefusedException {
        Object known = Fields.get(sink, PREFIX);
        if (known == null) {
            return null;
        }
        String prefix = "replay-" + replayId + "-" + known;
        Fields.set(sink, PREFIX, prefix);
        return prefix;
    }
}
