package io.afterbay.experiments;

import io.afterbay.cli.engine.Backend;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of an experiment that makes its runs itself, whatever it measures. */
public final class TrialArguments {
    @Option(
            names = "--backends",
            paramLabel = "LIST",
            split = ",",
            converter = Backend.Converter.class,
            defaultValue = "afterbay,rocksdb-heap-timers",
            description =
                    "State backends to compare, with commas: those of run --backend (default:"
                            + " ${DEFAULT-VALUE}).")
    public List<Backend> backends = List.of();

    @Option(
            names = "--pairs",
            paramLabel = "N",
            description = "Counted rounds of each size (default: 5; quick: 1).")
    private @Nullable Integer pairs;

    @Option(
            names = "--repeats",
            paramLabel = "N",
            description =
                    "How many rounds may run again because other work took more than 0.3 processors"
                            + " meanwhile (default: as many as --pairs).")
    private @Nullable Integer repeats;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = "Where results are recorded (default: bench/results of the project).")
    Path results = ExperimentArguments.defaultResults();

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description =
                    "Write the runs of this call as JSON to this file, or - for standard output"
                            + " (fields: bench/README.md).")
    @Nullable Path json;

    @Option(
            names = "--quick",
            description =
                    "One small round in minutes: proves that the experiment runs and that what can"
                            + " be counted is there; no figure counts, nothing is recorded.")
    public boolean quick;

    public int pairs() {
        return orDefault(pairs, 1, 5);
    }

    int repeats() {
        if (quick) {
            return 0;
        }
        return repeats == null ? pairs() : repeats;
    }

    /** A duration that was given, or the default of the short or the full form. */
    public Duration time(@Nullable Duration given, Duration ofQuick, Duration ofFull) {
        return orDefault(given, ofQuick, ofFull);
    }

    private <T> T orDefault(@Nullable T given, T ofQuick, T ofFull) {
        if (given != null) {
            return given;
        }
        return quick ? ofQuick : ofFull;
    }

    public void check(CommandLine command) {
        if (new HashSet<>(backends).size() < backends.size()) {
            throw new ParameterException(command, "--backends: name each of them once");
        }
        if (pairs() < 1) {
            throw new ParameterException(command, "--pairs %d: use 1 or more".formatted(pairs()));
        }
        if (repeats() < 0) {
            throw new ParameterException(
                    command, "--repeats %d: use 0 or a positive number".formatted(repeats()));
        }
    }
}
