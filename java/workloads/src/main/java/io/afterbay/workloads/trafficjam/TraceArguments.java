package io.afterbay.workloads.trafficjam;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say what the job computes on which trace. */
public class TraceArguments {
    private static final int MAX_PAYLOAD_BYTES = 64 << 20;
    private static final int MAX_HISTORY = 10_000;
    private static final int MAX_WORK = 1_000_000;
    private static final int MAX_REPEAT = 10_000;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = "--input",
            paramLabel = "FILE",
            description = {
                "Trace of position reports: "
                        + ReportParser.HEADER
                        + ", plain or gzip; - reads"
                        + " standard input, which cannot be replayed, so a failed job ends.",
                "Default: the city trace of the examples."
            })
    private @Nullable String input;

    @Option(
            names = "--payload",
            paramLabel = "BYTES",
            defaultValue = "0",
            description = "Ballast in the state of each car (default: ${DEFAULT-VALUE}).")
    private int payloadBytes;

    @Option(
            names = "--history",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Reports kept in the state of each car, each with its ballast (default:"
                            + " ${DEFAULT-VALUE}).")
    private int history;

    @Option(
            names = "--work",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Computing for each report, in thousands of steps of about a nanosecond (default:"
                            + " ${DEFAULT-VALUE}).")
    private int work;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Replay the trace N times, each time later and with other cars"
                            + " (default: ${DEFAULT-VALUE}).")
    private int repeat;

    /**
     * The checked job, as fast as possible and without output files; bad values are a {@link
     * ParameterException}.
     *
     * @param inputByDefault if none is given; null if one must be
     */
    public final TrafficJamOptions trace(String run, @Nullable String inputByDefault) {
        String trace = input == null ? inputByDefault : input;
        if (trace == null || trace.isEmpty()) {
            throw bad("--input: name a trace file");
        }
        check("--payload", payloadBytes, 0, MAX_PAYLOAD_BYTES);
        check("--history", history, 1, MAX_HISTORY);
        check("--work", work, 0, MAX_WORK);
        check("--repeat", repeat, 1, MAX_REPEAT);
        if (repeat > 1 && TraceFile.STANDARD_INPUT.equals(trace)) {
            throw bad("--repeat needs a file: standard input can be read only once");
        }
        return new TrafficJamOptions(
                trace, null, null, payloadBytes, history, work, repeat, Long.MAX_VALUE, 0, run);
    }

    private void check(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw bad("%s %d: use a number from %d to %d".formatted(option, value, min, max));
        }
    }

    final ParameterException bad(String message) {
        if (spec == null) {
            throw new IllegalArgumentException(message);
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
