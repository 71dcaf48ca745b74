package io.afterbay.cli.compare;

import io.afterbay.cli.job.ExternalSinks;
import io.afterbay.cli.job.ProgramArguments;
import io.afterbay.command.CommandFailure;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.InputFormatOperatorFactory;
import org.apache.flink.streaming.api.operators.SourceOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of comparisons of somebody else's jobs, which run many times. */
final class CompareProgramArguments extends ProgramArguments {
    @Option(
            names = "--allow-side-effects",
            description =
                    "Also run jobs whose sinks write to the outside, once for each run of each"
                            + " backend and for its warm-up.")
    private boolean sideEffects;

    @Override
    protected @Nullable String check(StreamGraph job, @Nullable String foreignBackend)
            throws CommandFailure {
        if (foreignBackend != null) {
            throw new CommandFailure(foreignBackend);
        }
        if (!sideEffects) {
            ExternalSinks.refuse(job);
        }
        if (duration.isZero() && !isBounded(job)) {
            throw new CommandFailure(
                    "job '%s' may not end by itself: name --duration D".formatted(job.getName()));
        }
        return null;
    }

    private static boolean isBounded(StreamGraph job) {
        return job.getStreamNodes().stream()
                .map(StreamNode::getOperatorFactory)
                .noneMatch(CompareProgramArguments::mayBeEndless);
    }

    /** A source of the old interface does not tell. */
    private static boolean mayBeEndless(StreamOperatorFactory<?> factory) {
        return factory instanceof SourceOperatorFactory<?> source
                ? source.getBoundedness() == Boundedness.CONTINUOUS_UNBOUNDED
                : factory != null
                        && factory.isStreamSource()
                        && !(factory instanceof InputFormatOperatorFactory<?>);
    }
}
