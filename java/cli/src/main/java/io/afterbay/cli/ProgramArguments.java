package io.afterbay.cli;

import io.afterbay.workloads.run.Durations;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Options of runs of somebody else's jobs. */
final class ProgramArguments {
    @Option(
            names = "--duration",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "off",
            description =
                    "Cancel the job this long after its first event, for example 30s, and report."
                            + " For jobs that would not end by themselves.")
    Duration duration = Duration.ZERO;
}
