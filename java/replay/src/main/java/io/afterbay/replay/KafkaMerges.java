package io.afterbay.replay;

import io.afterbay.replay.merge.MergeGraph;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.runtime.operators.sink.CommitterOperatorFactory;
import org.apache.flink.streaming.runtime.operators.sink.SinkWriterOperatorFactory;

/** Puts a merge before each KafkaSink of a job. Its sinks are copies already. */
final class KafkaMerges {
    private final StreamGraph job;
    private final MergePlan plan;
    private final String replayId;
    private final URI controlDirectory;

    KafkaMerges(StreamGraph job, MergePlan plan, String replayId, URI controlDirectory) {
        this.job = job;
        this.plan = plan;
        this.replayId = replayId;
        this.controlDirectory = controlDirectory;
    }

    /** Whether a node writes to Kafka, so that a merge could be put before it. */
    static boolean isBefore(StreamNode node) {
        StreamOperatorFactory<?> factory = node.getOperatorFactory();
        return factory instanceof SinkWriterOperatorFactory<?, ?> writer
                && KafkaSinks.isOne(writer.getSink());
    }

    /** Returns a line for each. */
    List<String> insert() throws ReplayRefusedException {
        List<String> lines = new ArrayList<>();
        List<StreamNode> writers =
                job.getStreamNodes().stream()
                        .filter(KafkaMerges::isBefore)
                        .sorted(Comparator.comparing(StreamNode::getId))
                        .toList();
        for (StreamNode writer : writers) {
            lines.add(insert(writer, lines.size()));
        }
        if (lines.isEmpty()) {
            throw new ReplayRefusedException(
                    "job '%s' has no sink to Kafka, and others cannot be merged with the live job's output: let the replay write to an output of its own"
                            .formatted(job.getJobName()));
        }
        return lines;
    }

    private String insert(StreamNode writer, int number) throws ReplayRefusedException {
        Object sink = withoutBuffer(writer);
        KafkaOutput output = KafkaOutput.of(writer.getOperatorName(), sink);
        Source<byte[], ?, ?> log = output.log(plan.sinceMs(), replayId, plan.resolver());
        MergeGraph.insert(
                job,
                writer,
                output.rows(plan.resolver()),
                log,
                plan.resolver(),
                replayId,
                plan.sinceMs(),
                "sink-" + number,
                new MergeControl(controlDirectory, number));
        output.takeRows();
        return "sink '%s': merged with what the live job wrote to %s since %s, by %s"
                .formatted(
                        writer.getOperatorName(),
                        String.join(", ", output.topics()),
                        Instant.ofEpochMilli(plan.sinceMs()),
                        plan.resolver().getClass().getName());
    }

    /** A buffer knows the rows of SQL, and gets others now. */
    private Object withoutBuffer(StreamNode writer) throws ReplayRefusedException {
        Object sink = Fields.required(required(writer), "sink");
        Object kafka = KafkaSinks.unwrapped(sink);
        if (kafka != sink) {
            for (StreamNode node : job.getStreamNodes()) {
                StreamOperatorFactory<?> factory = node.getOperatorFactory();
                if ((factory instanceof SinkWriterOperatorFactory<?, ?>
                                || factory instanceof CommitterOperatorFactory<?>)
                        && Fields.get(factory, "sink") == sink) {
                    Fields.set(factory, "sink", kafka);
                }
            }
        }
        return kafka;
    }

    private static StreamOperatorFactory<?> required(StreamNode node)
            throws ReplayRefusedException {
        StreamOperatorFactory<?> factory = node.getOperatorFactory();
        if (factory == null) {
            throw new ReplayRefusedException(node.getOperatorName() + " does nothing");
        }
        return factory;
    }
}
