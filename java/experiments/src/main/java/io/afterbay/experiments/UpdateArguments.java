package io.afterbay.experiments;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of an experiment with the job that updates keyed values. */
public final class UpdateArguments {
    private static final int VALUE_BYTES_MAX = 1 << 20;

    @Option(
            names = "--value-bytes",
            paramLabel = "N",
            defaultValue = "512",
            description = "Size of a value in the state (default: ${DEFAULT-VALUE}).")
    public int valueBytes;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description =
                    "Updates per second where the rate is fixed (default: 10000; quick: 2000).")
    private @Nullable Double rate;

    public double rate(boolean quick) {
        return rate == null ? quick ? 2_000 : 10_000 : rate;
    }

    public void check(CommandLine command) {
        if (!(rate(false) > 0)) {
            throw new ParameterException(
                    command, "--rate %s: use a positive number".formatted(rate));
        }
        if (valueBytes < Long.BYTES || valueBytes > VALUE_BYTES_MAX) {
            throw new ParameterException(
                    command,
                    "--value-bytes %d: use a number from %d to %d"
                            .formatted(valueBytes, Long.BYTES, VALUE_BYTES_MAX));
        }
    }
}
