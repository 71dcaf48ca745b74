package io.afterbay.cli.job;

import io.afterbay.command.CommandFailure;
import java.time.Duration;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/** What a command asks of somebody else's jobs. */
public interface ProgramRules {
    /** How long they run at most, from the first event; zero: to their end. */
    Duration duration();

    /**
     * Looks at a job before it starts.
     *
     * @param foreignBackend what is wrong if the job chooses another backend itself, or null
     * @return what to warn of, or null
     * @throws CommandFailure to refuse it
     */
    @Nullable String check(StreamGraph job, @Nullable String foreignBackend) throws CommandFailure;
}
