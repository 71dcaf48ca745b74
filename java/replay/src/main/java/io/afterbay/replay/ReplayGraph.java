package io.afterbay.replay;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.TimestampAssignerSupplier;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.SourceOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.api.operators.UdfStreamOperatorFactory;
import org.apache.flink.streaming.runtime.operators.TimestampsAndWatermarksOperatorFactory;
import org.jspecify.annotations.Nullable;

/**
 * Turns a job that reads a stream into one that reads a range of its past, and in which nothing is
 * ever idle (see {@link Idleness}); if asked for, also into one whose output is merged with the
 * live job's (see {@link MergePlan}). Nothing else about it is changed: operators keep their names,
 * identifiers, parallelism and state.
 *
 * <p>Which range that is depends on the source. A KafkaSource yields, of each partition, the
 * records from the first that entered the log at {@code from} or later to the one before the first
 * that entered it at {@code to} or later. So ranges that follow each other have each record once,
 * whatever their timestamps are. Of all other sources it is the records whose own time is in the
 * range, as the watermark strategy assigns it.
 */
public final class ReplayGraph {
    private final StreamGraph job;
    private final ReplayRange range;
    private final URI controlDirectory;
    private final String replayId;
    private final @Nullable MergePlan merge;
    private final Bounding bounding;
    private final KafkaSinks sinks;

    private ReplayGraph(
            StreamGraph job,
            ReplayRange range,
            String replayId,
            URI directory,
            @Nullable MergePlan merge) {
        this.job = job;
        this.range = range;
        this.controlDirectory = directory;
        this.replayId = replayId;
        this.merge = merge;
        this.bounding = new Bounding(range, replayId);
        this.sinks = new KafkaSinks(replayId);
    }

    /** For a replay that writes elsewhere than the live job. */
    public static List<String> rewrite(
            StreamGraph job, ReplayRange range, String replayId, URI controlDirectory)
            throws ReplayRefusedException {
        return rewrite(job, range, replayId, controlDirectory, null);
    }

    /**
     * Replaces the sources of a job, before {@link StreamGraph#serializeUserDefinedInstances}: they
     * yield the range only, at the rate of the control directory, and end. Sinks to Kafka get
     * transactions of their own. Sources and sinks that the job was built of stay as they are.
     *
     * <p>The job must have its identifier already: by that it may be told that it is not, or no
     * longer, to do the replay ({@link ReplayOrders}).
     *
     * @param replayId names the replay in consumer groups and transactions; the same when it is
     *     resumed
     * @param controlDirectory of {@link ReplayControl}, where the JobManager reaches it
     * @param merge how what goes to Kafka is merged with what the live job writes there; null if it
     *     writes elsewhere
     * @return one line for each source, each operator behind one that makes watermarks and could
     *     become idle, and each sink to Kafka, that says what was done with it
     * @throws ReplayRefusedException if one cannot be replayed; the job must not be used then
     */
    public static List<String> rewrite(
            StreamGraph job,
            ReplayRange range,
            String replayId,
            URI controlDirectory,
            @Nullable MergePlan merge)
            throws ReplayRefusedException {
        return new ReplayGraph(job, range, replayId, controlDirectory, merge).rewrite();
    }

    /** Whether the output of a node is one that can be merged, if it has keys. */
    public static boolean isMergeable(StreamNode node) {
        return KafkaMerges.isBefore(node);
    }

    private List<String> rewrite() throws ReplayRefusedException {
        List<StreamNode> nodes = sources();
        List<Replayed<?>> replayed = new ArrayList<>();
        for (StreamNode node : nodes) {
            replayed.add(replayed(node, factory(node)));
        }
        long withTimes = replayed.stream().filter(Replayed::isKnownToHaveTimes).count();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            StreamNode node = nodes.get(i);
            SourceControl control =
                    new SourceControl(
                            controlDirectory,
                            replayId + " of " + range,
                            job.getJobID().toHexString(),
                            i,
                            nodes.size(),
                            range.fromMs(),
                            name(node));
            // Without times anywhere nothing would tell what the range is.
            boolean needsTimes = replayed.get(i).isKnownToHaveTimes() || withTimes == 0;
            lines.add(replace(node, replayed.get(i), needsTimes, control));
        }
        lines.addAll(Idleness.takeFrom(job));
        lines.addAll(sinks.separate(job));
        if (merge != null) {
            lines.addAll(new KafkaMerges(job, merge, replayId, controlDirectory).insert());
        }
        return lines;
    }

    /** In the same order whenever the job is built. */
    private List<StreamNode> sources() throws ReplayRefusedException {
        List<StreamNode> nodes =
                job.getSourceIDs().stream().sorted().map(job::getStreamNode).toList();
        if (nodes.isEmpty()) {
            throw new ReplayRefusedException(
                    "job '" + job.getJobName() + "' has no source, so there is nothing to replay");
        }
        return nodes;
    }

    private static String name(StreamNode node) {
        return node.getOperatorName().replaceFirst("^Source: ", "");
    }

    private static SourceOperatorFactory<?> factory(StreamNode node) throws ReplayRefusedException {
        StreamOperatorFactory<?> factory = node.getOperatorFactory();
        if (factory instanceof SourceOperatorFactory<?> known) {
            return known;
        }
        throw new ReplayRefusedException(
                "source '%s' (%s) cannot be replayed: it is not of the Source API (FLIP-27), so it can be neither held back nor ended; give the job a source by env.fromSource"
                        .formatted(name(node), className(factory)));
    }

    private static String className(@Nullable StreamOperatorFactory<?> factory) {
        if (factory instanceof UdfStreamOperatorFactory<?> user) {
            return user.getUserFunctionClassName();
        }
        return factory == null ? "none" : factory.getClass().getName();
    }

    /** A source, and what it is to be. */
    private record Replayed<T>(
            SourceParts<T> parts, BoundedSource<T, ?, ?> bounded, RecordTime<T> time) {
        boolean isKnownToHaveTimes() {
            return bounded.yieldsRange() || time.isAssigned();
        }
    }

    private <T> Replayed<T> replayed(StreamNode node, SourceOperatorFactory<T> factory)
            throws ReplayRefusedException {
        SourceParts<T> parts = SourceParts.of(factory);
        return new Replayed<>(
                parts,
                bounding.bound(parts.source(), name(node)),
                new RecordTime<>(parts.watermarks(), assignerBehind(node)));
    }

    private <T> String replace(
            StreamNode node, Replayed<T> replayed, boolean needsTimes, SourceControl control)
            throws ReplayRefusedException {
        SourceParts<T> parts = replayed.parts();
        WatermarkStrategy<T> watermarks = Idleness.without(parts.watermarks());
        BoundedSource<T, ?, ?> bounded = replayed.bounded();
        node.setOperatorFactory(
                parts.with(source(bounded, replayed.time(), needsTimes, control), watermarks));
        // Events of ours go to a subtask, not to one of several attempts of it.
        node.setSupportsConcurrentExecutionAttempts(false);
        return "source '%s' (%s): %s%s%s"
                .formatted(
                        control.name(),
                        parts.source().getClass().getName(),
                        bounded.change(),
                        needsTimes || bounded.yieldsRange()
                                ? ""
                                : "; if its records have no time: all of it",
                        watermarks == parts.watermarks() ? "" : "; never idle");
    }

    private <T, SplitT extends SourceSplit, EnumT> Source<T, ?, ?> source(
            BoundedSource<T, SplitT, EnumT> bounded,
            RecordTime<T> time,
            boolean needsTimes,
            SourceControl control) {
        return new ReplaySource<>(bounded, time, needsTimes, range, control);
    }

    /**
     * What assignTimestampsAndWatermarks right behind the source was given, or the column of
     * WATERMARK FOR.
     */
    @SuppressWarnings("unchecked") // It takes what the source gives.
    private <T> @Nullable TimestampAssignerSupplier<T> assignerBehind(StreamNode node)
            throws ReplayRefusedException {
        if (node.getOutEdges().size() != 1) {
            return null;
        }
        StreamEdge edge = node.getOutEdges().get(0);
        StreamOperatorFactory<?> next = job.getStreamNode(edge.getTargetId()).getOperatorFactory();
        if (next instanceof TimestampsAndWatermarksOperatorFactory<?>) {
            return (WatermarkStrategy<T>) Fields.get(next, "watermarkStrategy");
        }
        return next != null && RowTime.isAssignedBy(next) ? RowTime.of(next) : null;
    }
}
