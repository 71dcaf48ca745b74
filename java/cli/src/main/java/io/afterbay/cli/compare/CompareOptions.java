package io.afterbay.cli.compare;

import io.afterbay.cli.engine.Backend;
import io.afterbay.command.ByteSize;
import io.afterbay.workloads.run.Rates;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * What was asked for of a comparison. In the short form, some of it is shorter.
 *
 * @param fullRepeats null for as many as pairs
 * @param rate of the open loop; 0 for one that is found
 * @param limit of the memory cgroup of each worker: none if null, that of its memory if zero
 * @param json null for none
 * @param page null for the usual
 */
public record CompareOptions(
        List<Backend> backends,
        int fullPairs,
        @Nullable Integer fullRepeats,
        Duration fullWarmUp,
        Duration fullLatency,
        double rate,
        boolean quick,
        @Nullable ByteSize limit,
        @Nullable Path json,
        @Nullable Path page) {
    /** What is compared, and how, unless something else is asked for. */
    public static final CompareOptions USUAL =
            new CompareOptions(
                    List.of(
                            Backend.AFTERBAY,
                            Backend.ROCKSDB_HEAP_TIMERS,
                            Backend.ROCKSDB,
                            Backend.HASHMAP),
                    5,
                    null,
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(30),
                    0,
                    false,
                    null,
                    null,
                    null);

    /** Of the short form; its command takes less than three minutes on two busy processors. */
    static final long QUICK_EVENTS = 200_000;

    private static final Duration QUICK_WARM_UP = Duration.ofSeconds(2);
    private static final Duration QUICK_LATENCY = Duration.ofSeconds(4);
    private static final int PAIRS_MAX = 1000;

    /** For a job that brings its own events: there is no loop at a given rate. */
    public CompareOptions withoutOpenLoop() {
        return new CompareOptions(
                backends,
                fullPairs,
                fullRepeats,
                fullWarmUp,
                Duration.ZERO,
                rate,
                quick,
                limit,
                json,
                page);
    }

    /** The same with a limit for the memory of workers, and another place for the page. */
    public CompareOptions within(@Nullable ByteSize ofCgroup, @Nullable Path file) {
        return new CompareOptions(
                backends,
                fullPairs,
                fullRepeats,
                fullWarmUp,
                fullLatency,
                rate,
                quick,
                ofCgroup,
                json,
                file);
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
        return limit == null || limit.bytes() > 0 ? limit : memory;
    }

    int pairs() {
        return quick ? 1 : fullPairs;
    }

    int repeats() {
        if (quick) {
            return 0;
        }
        return fullRepeats == null ? fullPairs : fullRepeats;
    }

    Duration warmUp() {
        return quick ? shorter(fullWarmUp, QUICK_WARM_UP) : fullWarmUp;
    }

    Duration latency() {
        return quick ? shorter(fullLatency, QUICK_LATENCY) : fullLatency;
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    /** Wrong ones are the command's usage errors. */
    void check(CommandLine command) {
        if (backends.size() < 2 || new HashSet<>(backends).size() < backends.size()) {
            throw new ParameterException(
                    command, "--backends: name at least two backends, each of them once");
        }
        if (fullPairs < 1 || fullPairs > PAIRS_MAX) {
            throw new ParameterException(
                    command,
                    "--pairs %d: use a number from 1 to %d".formatted(fullPairs, PAIRS_MAX));
        }
        if (fullRepeats != null && fullRepeats < 0) {
            throw new ParameterException(
                    command, "--repeats %d: use 0 or a positive number".formatted(fullRepeats));
        }
        if (!Rates.isValid(rate)) {
            throw new ParameterException(command, Rates.explain(rate));
        }
    }
}
