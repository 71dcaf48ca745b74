package io.afterbay.cli.measure;

import io.afterbay.cli.job.ExternalSinks;
import io.afterbay.cli.job.ProgramRules;
import io.afterbay.command.CommandFailure;
import java.time.Duration;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.InputFormatOperatorFactory;
import org.apache.flink.streaming.api.operators.SourceOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of somebody else's jobs that run many times.
 *
 * @param allowsSideEffects whether sinks may write to the outside
 */
public record ComparedRules(long durationMs, boolean allowsSideEffects) implements ProgramRules {
    @Override
    public Duration duration() {
        return Duration.ofMillis(durationMs);
    }

    @Override
    public @Nullable String check(StreamGraph job, @Nullable String foreignBackend)
            throws CommandFailure {
        if (foreignBackend != null) {
            throw new CommandFailure(foreignBackend);
        }
        if (!allowsSideEffects) {
            ExternalSinks.refuse(
                    job,
                    ", and would do so in every run; replace it by one that discards, or give --allow-side-effects");
        }
        if (durationMs == 0 && !isBounded(job)) {
            throw new CommandFailure(
                    "job '%s' may not end by itself: name --duration D".formatted(job.getName()));
        }
        return null;
    }

    private static boolean isBounded(StreamGraph job) {
        return job.getStreamNodes().stream()
                .map(StreamNode::getOperatorFactory)
                .noneMatch(ComparedRules::mayBeEndless);
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
