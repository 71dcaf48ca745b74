package io.afterbay.cli.compare;

import io.afterbay.cli.engine.Backend;
import io.afterbay.command.ByteSize;
import io.afterbay.command.Durations;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options of a comparison, the same for every target. */
final class CompareArguments {
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
    private List<Backend> backends = List.of();

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
    private double rate;

    @Option(
            names = "--quick",
            description =
                    "One short pair: proves that the comparison runs and that outputs are equal; no"
                            + " figure counts.")
    private boolean quick;

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
    private @Nullable Path json;

    @Option(
            names = "--page",
            paramLabel = "FILE",
            description =
                    "Where the HTML page goes (default: afterbay-compare-TARGET.html in the current"
                            + " directory).")
    private @Nullable Path page;

    /** What they say, not checked. */
    CompareOptions options() {
        return new CompareOptions(
                backends, pairs, repeats, warmUp, latency, rate, quick, cgroupLimit, json, page);
    }

    /** The same for a job that brings its own events: there is no loop at a given rate. */
    CompareOptions withoutOpenLoop(CommandLine command) {
        for (String option : List.of("--rate", "--latency")) {
            if (command.getParseResult().hasMatchedOption(option)) {
                throw new ParameterException(
                        command,
                        option + ": this job brings its own events; there is no open loop");
            }
        }
        return options().withoutOpenLoop();
    }
}
