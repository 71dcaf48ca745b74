package io.afterbay.cli.compare;

import io.afterbay.cli.engine.Backend;
import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import io.afterbay.workloads.run.Rates;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of a comparison, the same for every target. */
final class CompareArguments {
    /** Of {@code --quick}; its command takes less than three minutes on two busy processors. */
    static final long QUICK_EVENTS = 200_000;

    private static final Duration QUICK_WARM_UP = Duration.ofSeconds(2);
    private static final Duration QUICK_LATENCY = Duration.ofSeconds(4);
    private static final int PAIRS_MAX = 1000;

    /** Of {@code --cgroup-limit} without a size. */
    private static final String AS_MEMORY = "0";

    @Option(
            names = "--backends",
            paramLabel = "LIST",
            split = ",",
            converter = Backend.Converter.class,
            defaultValue = "afterbay,rocksdb-heap-timers,rocksdb,hashmap",
            description =
                    "State backends to compare, with commas: those of run --backend (default:"
                            + " ${DEFAULT-VALUE}).")
    List<Backend> backends = List.of();

    @Option(
            names = "--pairs",
            paramLabel = "N",
            defaultValue = "5",
            description =
                    "Counted rounds; in each, all backends run one after the other (default:"
                            + " ${DEFAULT-VALUE}). If the rate of the open loop must be found, one"
                            + " more round before them is not counted.")
    private int pairs;

    @Option(
            names = "--repeats",
            paramLabel = "N",
            description =
                    "How many rounds may run again because other work, or the host of a virtual"
                            + " machine, took more than 0.3 processors meanwhile (default: as many"
                            + " as --pairs).")
    private @Nullable Integer repeats;

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "30s",
            description =
                    "How long the job runs in each process before anything is counted (default:"
                            + " ${DEFAULT-VALUE}).")
    private Duration warmUp = Duration.ZERO;

    @Option(
            names = "--latency",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "30s",
            description =
                    "Length of the open loop, in which latencies are measured at a given rate, or"
                            + " off (default: ${DEFAULT-VALUE}).")
    private Duration latency = Duration.ZERO;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Events per second of the open loop (default: 70 %% of what"
                            + " rocksdb-heap-timers, or without it the slowest backend, processed"
                            + " in the round that is not counted).")
    double rate;

    @Option(
            names = "--quick",
            description =
                    "One short pair: proves that the comparison runs and that outputs are equal; no"
                            + " figure counts.")
    boolean quick;

    @Option(
            names = "--cgroup-limit",
            arity = "0..1",
            paramLabel = "SIZE",
            fallbackValue = AS_MEMORY,
            converter = ByteSize.Converter.class,
            description =
                    "Put each worker into a memory cgroup (Linux, with permission), so that the page"
                            + " cache cannot hold state that is larger than memory. Without SIZE,"
                            + " the limit is --memory; give more for a backend that takes more than"
                            + " it is given.")
    private @Nullable ByteSize cgroupLimit;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description =
                    "Write all runs and ratios as JSON to this file, or - for standard output"
                            + " (fields: docs/compare.md).")
    @Nullable Path json;

    @Option(
            names = "--page",
            paramLabel = "FILE",
            description =
                    "Where the HTML page goes (default: afterbay-compare-TARGET.html in the current"
                            + " directory).")
    @Nullable Path page;

    /** For a job that brings its own events: there is no loop at a given rate. */
    void withoutOpenLoop(CommandLine command) {
        for (String option : List.of("--rate", "--latency")) {
            if (command.getParseResult().hasMatchedOption(option)) {
                throw new ParameterException(
                        command,
                        option + ": this job brings its own events; there is no open loop");
            }
        }
        latency = Duration.ZERO;
    }

    /** Each process warms up by itself; a round that is not counted only finds the rate. */
    boolean hasUncountedRound() {
        return rate == 0 && !latency().isZero();
    }

    /**
     * The limit of the cgroup of each worker; null if there is none.
     *
     * @param memory that a worker is given
     */
    @Nullable ByteSize cgroupLimit(ByteSize memory) {
        return cgroupLimit == null || cgroupLimit.bytes() > 0 ? cgroupLimit : memory;
    }

    int pairs() {
        return quick ? 1 : pairs;
    }

    int repeats() {
        if (quick) {
            return 0;
        }
        return repeats == null ? pairs : repeats;
    }

    Duration warmUp() {
        return quick ? shorter(warmUp, QUICK_WARM_UP) : warmUp;
    }

    Duration latency() {
        return quick ? shorter(latency, QUICK_LATENCY) : latency;
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    void check(CommandLine command) {
        if (backends.size() < 2 || new HashSet<>(backends).size() < backends.size()) {
            throw new ParameterException(
                    command, "--backends: name at least two backends, each of them once");
        }
        if (pairs < 1 || pairs > PAIRS_MAX) {
            throw new ParameterException(
                    command, "--pairs %d: use a number from 1 to %d".formatted(pairs, PAIRS_MAX));
        }
        if (repeats != null && repeats < 0) {
            throw new ParameterException(
                    command, "--repeats %d: use 0 or a positive number".formatted(repeats));
        }
        if (!Rates.isValid(rate)) {
            throw new ParameterException(command, Rates.explain(rate));
        }
    }
}
