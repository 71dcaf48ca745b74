package io.afterbay.cli.job;

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
    protected Duration duration = Duration.ZERO;

    /** Of {@code run}: another backend is no reason to refuse a job. */
    public final ProgramRules rules() {
        return new RunRules(duration);
    }

    private record RunRules(Duration duration) implements ProgramRules {
        @Override
        public @Nullable String check(StreamGraph job, @Nullable String foreignBackend) {
            return foreignBackend;
        }
    }
}
