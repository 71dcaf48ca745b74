package io.afterbay.replay.merge;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.SourceOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.api.transformations.StreamExchangeMode;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;
import org.apache.flink.streaming.runtime.partitioner.KeyGroupStreamPartitioner;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;
import org.jspecify.annotations.Nullable;

/**
 * Puts a merge before a sink of a job.
 *
 * <pre>
 *   before    job --------------------------------------------&gt; sink
 *
 *   after     job --&gt; rows of the sink --by key--&gt; merge ------&gt; sink --&gt; log
 *                                                    ^                     |
 *                          source of the log --by key+ &lt;-------------------+
 * </pre>
 */
public final class MergeGraph {
    private static final TypeInformation<byte[]> BYTES =
            PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO;

    /** As keyBy has it; each task makes it that of its operator. */
    private static final int KEY_GROUPS_AT_FIRST = 128;

    private final StreamGraph job;
    private final StreamNode sink;
    private final String uid;

    private MergeGraph(StreamGraph job, StreamNode sink, String uid) {
        this.job = job;
        this.sink = sink;
        this.uid = uid;
    }

    /**
     * @param sink the node that writes; from now on it is given what {@link Envelope#row} reads
     * @param rows makes {@link Envelope}s of what the sink was given so far
     * @param log what the sink writes to: endless, of Envelopes, in its order
     * @param sinceMs from when on rows of the live job count, milliseconds since 1970; the log
     *     begins there
     * @param name tells the sink from others of the job; the same whenever the job is built
     */
    public static void insert(
            StreamGraph job,
            StreamNode sink,
            StreamOperatorFactory<byte[]> rows,
            Source<byte[], ?, ?> log,
            Resolver resolver,
            String replayId,
            long sinceMs,
            String name,
            MergeListener listener) {
        String uid = "afterbay-replay-" + name;
        new MergeGraph(job, sink, uid)
                .insert(
                        rows,
                        new SourceOperatorFactory<>(
                                new LogSource<>(log), WatermarkStrategy.noWatermarks(), true),
                        new MergingFactory(
                                resolver, replayId + "/" + name, sinceMs, uid, listener));
    }

    private void insert(
            StreamOperatorFactory<byte[]> rows,
            SourceOperatorFactory<byte[]> log,
            MergingFactory merging) {
        String of = " of " + sink.getOperatorName();
        StreamNode rowsNode = addRows(rows, "Rows" + of);
        StreamNode logNode = addLog(log, "Source: log" + of);
        StreamNode mergeNode = addMerge(merging, "Merge" + of);
        connect(rowsNode, mergeNode, 1, byKey());
        connect(logNode, mergeNode, 2, byKey());
        connect(mergeNode, sink, 0, new ForwardPartitioner<>());
        job.setSerializers(sink.getId(), bytes(), null, sink.getTypeSerializerOut());
    }

    private StreamNode addRows(StreamOperatorFactory<byte[]> factory, String name) {
        factory.setChainingStrategy(ChainingStrategy.ALWAYS);
        int id = Transformation.getNewNodeId();
        job.addOperator(id, slotSharingGroup(), null, factory, null, BYTES, name);
        job.setSerializers(id, sink.getTypeSerializersIn()[0], null, bytes());
        StreamNode node = added(id, "rows");
        for (StreamEdge edge : List.copyOf(sink.getInEdges())) {
            moveTo(node, edge);
        }
        return node;
    }

    /** What went to the sink goes to the rows, in the same way. */
    private void moveTo(StreamNode node, StreamEdge edge) {
        StreamNode source = job.getStreamNode(edge.getSourceId());
        source.getOutEdges().remove(edge);
        sink.getInEdges().remove(edge);
        connect(
                new StreamEdge(
                        source,
                        node,
                        edge.getTypeNumber(),
                        edge.getPartitioner(),
                        edge.getOutputTag(),
                        edge.getExchangeMode(),
                        node.getInEdges().size(),
                        edge.getIntermediateDatasetIdToProduce()));
    }

    private StreamNode addLog(SourceOperatorFactory<byte[]> factory, String name) {
        factory.setCoordinatorListeningID(uid);
        factory.setChainingStrategy(ChainingStrategy.NEVER);
        int id = Transformation.getNewNodeId();
        job.addSource(id, slotSharingGroup(), null, factory, null, BYTES, name);
        return added(id, "log");
    }

    private StreamNode addMerge(MergingFactory factory, String name) {
        int id = Transformation.getNewNodeId();
        job.addCoOperator(id, slotSharingGroup(), null, factory, BYTES, BYTES, BYTES, name);
        Envelope.ByKey key = new Envelope.ByKey();
        job.setTwoInputStateKey(id, key, key, StringSerializer.INSTANCE);
        job.setManagedMemoryUseCaseWeights(
                id, Map.of(), Set.of(ManagedMemoryUseCase.STATE_BACKEND));
        return added(id, "merge");
    }

    private StreamNode added(int id, String part) {
        StreamNode node = job.getStreamNode(id);
        job.setTransformationUID(id, uid + "-" + part);
        job.setParallelism(id, sink.getParallelism(), true);
        job.setMaxParallelism(id, sink.getMaxParallelism());
        job.setBufferTimeout(id, sink.getBufferTimeout());
        // Events go to a subtask, not to one of several attempts of it.
        job.setSupportsConcurrentExecutionAttempts(id, false);
        return node;
    }

    private @Nullable String slotSharingGroup() {
        return sink.getSlotSharingGroup();
    }

    private TypeSerializer<byte[]> bytes() {
        return BYTES.createSerializer(job.getExecutionConfig().getSerializerConfig());
    }

    private static StreamPartitioner<byte[]> byKey() {
        return new KeyGroupStreamPartitioner<>(new Envelope.ByKey(), KEY_GROUPS_AT_FIRST);
    }

    private void connect(
            StreamNode from, StreamNode to, int input, StreamPartitioner<?> partitioner) {
        connect(
                new StreamEdge(
                        from, to, input, partitioner, null, StreamExchangeMode.UNDEFINED, 0, null));
    }

    private void connect(StreamEdge edge) {
        job.getStreamNode(edge.getSourceId()).addOutEdge(edge);
        job.getStreamNode(edge.getTargetId()).addInEdge(edge);
    }
}
