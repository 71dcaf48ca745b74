package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.Rates;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The job's own options, the same on the embedded engine and on a cluster. */
public final class TrafficJamArguments extends TraceArguments {
    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Write all rankings to this CSV file; an existing file is replaced.")
    private @Nullable String output;

    @Option(
            names = "--rejects",
            paramLabel = "FILE",
            description = "Write late and malformed lines, with line number and reason, here.")
    private @Nullable String rejects;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Open loop: N lines per second by a fixed schedule, whatever the job does;"
                            + " latencies count from the schedule. 0, the default: as fast as"
                            + " possible.")
    private double rate;

    /**
     * The checked options of a run; bad values are a {@link ParameterException}.
     *
     * @param inputByDefault if none is given; null if one must be
     */
    public TrafficJamOptions options(String run, @Nullable String inputByDefault) {
        TrafficJamOptions options = trace(run, inputByDefault);
        if (!Rates.isValid(rate)) {
            throw bad(Rates.explain(rate));
        }
        return new TrafficJamOptions(
                options.input(),
                output,
                rejects,
                options.payloadBytes(),
                options.history(),
                options.work(),
                options.repeat(),
                options.linesMax(),
                rate,
                run);
    }
}
