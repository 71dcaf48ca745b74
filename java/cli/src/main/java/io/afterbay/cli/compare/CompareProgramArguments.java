package io.afterbay.cli.compare;

import io.afterbay.cli.job.ProgramArguments;
import io.afterbay.cli.measure.ComparedRules;
import picocli.CommandLine.Option;

/** Options of comparisons of somebody else's jobs, which run many times. */
final class CompareProgramArguments extends ProgramArguments {
    @Option(
            names = "--allow-side-effects",
            description =
                    "Also run jobs whose sinks write to the outside, once for each run of each"
                            + " backend and for its warm-up.")
    private boolean sideEffects;

    /** What is asked of jobs that run many times. */
    ComparedRules comparedRules() {
        return new ComparedRules(duration.toMillis(), sideEffects);
    }
}
