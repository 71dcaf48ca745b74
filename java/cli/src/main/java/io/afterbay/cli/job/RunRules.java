package io.afterbay.cli.job;

import io.afterbay.command.CommandFailure;
import java.time.Duration;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of somebody else's jobs that run once: another backend is no reason to refuse one.
 *
 * @param sinksAllowedBy the option by which a user says that sinks may write to the outside; null
 *     if they may
 */
public record RunRules(long durationMs, @Nullable String sinksAllowedBy) implements ProgramRules {
    @Override
    public Duration duration() {
        return Duration.ofMillis(durationMs);
    }

    @Override
    public @Nullable String check(StreamGraph job, @Nullable String foreignBackend)
            throws CommandFailure {
        if (sinksAllowedBy != null) {
            ExternalSinks.refuse(
                    job,
                    ", where the live job's results may be; give the job another output, and say so by "
                            + sinksAllowedBy);
        }
        return foreignBackend;
    }
}
