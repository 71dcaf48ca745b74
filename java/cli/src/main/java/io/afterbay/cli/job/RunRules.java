package io.afterbay.cli.job;

import io.afterbay.command.CommandFailure;
import java.time.Duration;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of somebody else's jobs that run once: another backend is no reason to refuse one.
 *
 * @param allowsSideEffects whether sinks may write to the outside
 */
public record RunRules(long durationMs, boolean allowsSideEffects) implements ProgramRules {
    @Override
    public Duration duration() {
        return Duration.ofMillis(durationMs);
    }

    @Override
    public @Nullable String check(StreamGraph job, @Nullable String foreignBackend)
            throws CommandFailure {
        if (!allowsSideEffects) {
            ExternalSinks.refuse(job);
        }
        return foreignBackend;
    }
}
