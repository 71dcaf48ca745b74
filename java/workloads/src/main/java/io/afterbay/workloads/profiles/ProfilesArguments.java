package io.afterbay.workloads.profiles;

import io.afterbay.workloads.run.Rates;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say which titles are standardised how. */
public final class ProfilesArguments {
    private static final long MEMBERS_MAX = 1_000_000_000;
    private static final long CHANGES_MAX = 1_000_000_000_000L;
    private static final long INTERVAL_MICROS_MAX = 60_000_000;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = "--members",
            paramLabel = "N",
            defaultValue = "100000",
            description =
                    "Members; the first records are a snapshot of their profiles (default:"
                            + " ${DEFAULT-VALUE}).")
    private long members;

    @Option(
            names = "--changes",
            paramLabel = "N",
            defaultValue = "900000",
            description = "Changes of profiles that follow (default: ${DEFAULT-VALUE}).")
    private long changes;

    @Option(
            names = "--inter-event",
            paramLabel = "MICROS",
            defaultValue = "1000",
            description =
                    "Event time between two records in microseconds, from 1970 on (default:"
                            + " ${DEFAULT-VALUE}, so 1,000 records are one second).")
    private long intervalMicros;

    @Option(
            names = "--dictionary",
            paramLabel = "N",
            defaultValue = "2",
            description = "Version of the dictionary, 1 or 2 (default: ${DEFAULT-VALUE}).")
    private int dictionary;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Another one makes other profiles (default: ${DEFAULT-VALUE}).")
    private long seed;

    /**
     * The checked options, with the rate of an open loop or 0; bad values are a {@link
     * ParameterException}.
     */
    public ProfilesOptions options(String run, double recordsPerSecond, @Nullable String output) {
        check("--members", members, 1, MEMBERS_MAX);
        check("--changes", changes, 0, CHANGES_MAX);
        check("--inter-event", intervalMicros, 1, INTERVAL_MICROS_MAX);
        check("--dictionary", dictionary, 1, Dictionary.VERSIONS);
        if (!Rates.isValid(recordsPerSecond)) {
            throw bad(Rates.explain(recordsPerSecond));
        }
        return new ProfilesOptions(
                new ProfileChanges(seed, members),
                members + changes,
                intervalMicros,
                dictionary,
                recordsPerSecond,
                output,
                run);
    }

    private void check(String option, long value, long min, long max) {
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
