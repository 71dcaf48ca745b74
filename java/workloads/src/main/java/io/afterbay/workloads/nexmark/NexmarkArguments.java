package io.afterbay.workloads.nexmark;

import io.afterbay.workloads.run.Rates;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The job's own options, the same on the embedded engine and on a cluster. */
public final class NexmarkArguments extends QueryArguments {
    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Open loop: N events per second by a fixed schedule, whatever the job does;"
                            + " latencies count from the schedule. 0, the default: as fast as"
                            + " possible.")
    private double rate;

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Write all rows to this CSV file; an existing file is replaced.")
    private @Nullable String output;

    /** The checked options of a run; bad values are a {@link ParameterException}. */
    public NexmarkOptions options(String run) {
        NexmarkOptions options = query(run);
        if (!Rates.isValid(rate)) {
            throw bad(Rates.explain(rate));
        }
        NexmarkOptions paced = options.as(run, options.events(), rate);
        return output == null ? paced : paced.writingTo(output);
    }
}
