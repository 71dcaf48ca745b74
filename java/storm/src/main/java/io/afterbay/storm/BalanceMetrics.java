package io.afterbay.storm;

import java.util.function.Supplier;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.task.TopologyContext;
import org.jspecify.annotations.Nullable;

/**
 * By what this worker's tasks send balanced streams at the moment, as gauges (Storm's metrics v2):
 * values of {@link BalanceKind}.
 *
 * <pre>
 *   afterbay-balanced-to-TARGET:STREAM      at each task of a spout
 *   afterbay-balanced-from-SOURCE:STREAM    at each task of a balanced bolt: of its worker's senders
 * </pre>
 *
 * A colon within the name of a component or a stream is {@code %3A}, and a percent sign {@code
 * %25}: two streams never have the same metric, which Storm would not register.
 */
final class BalanceMetrics {
    private BalanceMetrics() {}

    /** For a task that sends. */
    static void ofSender(TopologyContext context) {
        String self = context.getThisComponentId();
        context.getThisTargets()
                .forEach(
                        (stream, targets) ->
                                targets.forEach(
                                        (target, grouping) ->
                                                register(
                                                        context,
                                                        grouping,
                                                        "to-" + name(target, stream),
                                                        edge(context, self, stream, target))));
    }

    /** For a task that is sent to. */
    static void ofReceiver(TopologyContext context) {
        String self = context.getThisComponentId();
        context.getThisSources()
                .forEach((stream, grouping) -> from(context, stream, grouping, self));
    }

    private static void from(
            TopologyContext context, GlobalStreamId stream, Grouping grouping, String self) {
        String source = Components.source(stream);
        String name = Components.name(stream);
        register(
                context, grouping, "from-" + name(source, name), edge(context, source, name, self));
    }

    /** The part of a metric's name that says which stream it is of. */
    static String name(String component, String stream) {
        return escaped(component) + ":" + escaped(stream);
    }

    private static String escaped(String name) {
        return name.replace("%", "%25").replace(":", "%3A");
    }

    /** Looked up each time: who sends in this worker may be made later. */
    private static Supplier<@Nullable Edge> edge(
            TopologyContext context, String source, String stream, String target) {
        WorkerShare share = WorkerShare.of(context);
        return () -> share.edge(source, stream, target);
    }

    private static void register(
            TopologyContext context,
            Grouping grouping,
            String name,
            Supplier<@Nullable Edge> edge) {
        if (Refusals.isBalanced(grouping)) {
            context.registerGauge("afterbay-balanced-" + name, () -> kind(edge.get()).value());
        }
    }

    private static BalanceKind kind(@Nullable Edge edge) {
        return edge == null ? BalanceKind.NONE : edge.kind();
    }
}
