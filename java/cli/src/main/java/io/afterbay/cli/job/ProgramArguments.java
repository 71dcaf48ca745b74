package io.afterbay.cli.job;

import io.afterbay.command.Durations;
import java.time.Duration;
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
    public final RunRules rules() {
        return new RunRules(duration.toMillis(), null);
    }
}
