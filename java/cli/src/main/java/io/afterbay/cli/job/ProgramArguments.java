package io.afterbay.cli.job;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.Durations;
import java.time.Duration;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of runs of somebody else's jobs. */
public class ProgramArguments {
    @Option(
            names = "--duration",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "off",
            description =
                    "Cancel the job this long after its first event, for example 30s, and report."
                            + " For jobs that would not end by themselves.")
    public Duration duration = Duration.ZERO;

    /**
     * Looks at a job before it starts.
     *
     * @param foreignBackend what is wrong if the job chooses another backend itself, or null
     * @return what to warn of, or null
     * @throws CommandFailure to refuse it
     */
    protected @Nullable String check(StreamGraph job, @Nullable String foreignBackend)
            throws CommandFailure {
        return foreignBackend;
    }
}
