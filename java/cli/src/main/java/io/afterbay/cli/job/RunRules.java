package io.afterbay.cli.job;

import java.time.Duration;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/** What {@code run} asks of somebody else's jobs: another backend is no reason to refuse one. */
public record RunRules(long durationMs) implements ProgramRules {
    @Override
    public Duration duration() {
        return Duration.ofMillis(durationMs);
    }

    @Override
    public @Nullable String check(StreamGraph job, @Nullable String foreignBackend) {
        return foreignBackend;
    }
}
