package io.afterbay.cli.job;

import io.afterbay.command.CommandFailure;
import java.util.List;
import java.util.function.Predicate;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.AbstractUdfStreamOperator;
import org.apache.flink.streaming.api.operators.SimpleOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.runtime.operators.sink.SinkWriterOperatorFactory;
import org.jspecify.annotations.Nullable;

/** Tells sinks that leave nothing behind from those that write where others may see it. */
public final class ExternalSinks {
    /** Beginnings of class names: discarding, printing, collecting, and our own. */
    private static final List<String> HARMLESS =
            List.of(
                    "org.apache.flink.streaming.api.functions.sink.PrintSink",
                    "org.apache.flink.streaming.api.functions.sink.legacy.PrintSinkFunction",
                    "org.apache.flink.streaming.api.functions.sink.legacy.DiscardingSink",
                    "org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink",
                    "org.apache.flink.streaming.api.operators.collect.",
                    "org.apache.flink.connector.print.table.",
                    "org.apache.flink.connector.blackhole.table.",
                    "io.afterbay.");

    private ExternalSinks() {}

    /**
     * @param wayOut what a user may do who wants it all the same
     * @throws CommandFailure naming the first sink that writes to the outside
     */
    public static void refuse(StreamGraph job, String wayOut) throws CommandFailure {
        refuse(job, node -> false, wayOut);
    }

    /**
     * @param allowed what is none to be refused
     */
    public static void refuse(StreamGraph job, Predicate<StreamNode> allowed, String wayOut)
            throws CommandFailure {
        for (StreamNode node : job.getStreamNodes()) {
            String sink = allowed.test(node) ? null : sinkClass(job, node);
            if (sink != null && HARMLESS.stream().noneMatch(sink::startsWith)) {
                throw new CommandFailure(
                        "sink '%s' of job '%s' (%s) may write to the outside%s"
                                .formatted(node.getOperatorName(), job.getName(), sink, wayOut));
            }
        }
    }

    /** Null for what is no sink. */
    private static @Nullable String sinkClass(StreamGraph job, StreamNode node) {
        StreamOperatorFactory<?> factory = node.getOperatorFactory();
        if (factory instanceof SinkWriterOperatorFactory<?, ?> writer) {
            return writer.getSink().getClass().getName();
        }
        if (factory instanceof SimpleOperatorFactory<?> simple
                && job.getSinkIDs().contains(node.getId())
                && simple.getOperator() instanceof AbstractUdfStreamOperator<?, ?> operator) {
            return operator.getUserFunction().getClass().getName();
        }
        return factory == null || job.getSourceIDs().contains(node.getId())
                ? null
                : writer(factory);
    }

    /** Some connectors write in operators of their own and discard what comes out of them. */
    private static @Nullable String writer(StreamOperatorFactory<?> factory) {
        Class<?> type =
                factory instanceof SimpleOperatorFactory<?> simple
                        ? simple.getOperator().getClass()
                        : factory.getClass();
        return type.getName().contains(".connector") ? type.getName() : null;
    }
}
