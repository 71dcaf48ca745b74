package io.afterbay.workloads.trafficjam;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The job's own options, the same on the embedded engine and on a cluster. */
public final class TrafficJamArguments {
    private static final int MAX_PAYLOAD_BYTES = 64 << 20;
    private static final int MAX_REPEAT = 10_000;
    private static final double MAX_RATE = 1e9;

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
            names = "--payload",
            paramLabel = "BYTES",
            defaultValue = "0",
            description = "Ballast in the state of each car (default: ${DEFAULT-VALUE}).")
    private int payloadBytes;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Replay the trace N times, each time later and with other cars"
                            + " (default: ${DEFAULT-VALUE}).")
    private int repeat;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Open loop: N lines per second by a fixed schedule, whatever the job does;"
                            + " latencies count from the schedule. 0, the default: as fast as"
                            + " possible.")
    private double rate;

    /** The input as given, or null. */
    public @Nullable String input() {
        return input;
    }

    /** Fills in an input that was not given. */
    public void defaultInput(String file) {
        if (input == null) {
            input = file;
        }
    }

    /** The checked options of a run; bad values are a {@link ParameterException}. */
    public TrafficJamOptions options(String run) {
        String trace = input;
        if (trace == null || trace.isEmpty()) {
            throw bad("--input: name a trace file");
        }
        check("--payload", payloadBytes, 0, MAX_PAYLOAD_BYTES);
        check("--repeat", repeat, 1, MAX_REPEAT);
        if (!(rate == 0 || rate >= 1e-3 && rate <= MAX_RATE)) {
            throw bad("--rate " + rate + ": use 0 or a number from 0.001 to 1e9");
        }
        if (repeat > 1 && TraceFile.STANDARD_INPUT.equals(trace)) {
            throw bad("--repeat needs a file: standard input can be read only once");
        }
        return new TrafficJamOptions(trace, output, rejects, payloadBytes, repeat, rate, run);
    }

    private void check(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw bad("%s %d: use a number from %d to %d".formatted(option, value, min, max));
        }
    }

    private ParameterException bad(String message) {
        if (spec == null) {
            throw new IllegalArgumentException(message);
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
