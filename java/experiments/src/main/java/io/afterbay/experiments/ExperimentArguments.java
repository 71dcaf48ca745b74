package io.afterbay.experiments;

import static java.util.stream.Collectors.joining;

import io.afterbay.bench.Cell;
import io.afterbay.cli.compare.CompareOptions;
import io.afterbay.cli.engine.Backend;
import io.afterbay.command.Durations;
import io.afterbay.command.Installation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Options of an experiment, whatever it compares the backends on. */
public final class ExperimentArguments {
    private static final String RESULTS = "bench/results";
    private static final List<Backend> QUICK_BACKENDS =
            List.of(Backend.AFTERBAY, Backend.ROCKSDB_HEAP_TIMERS);
    private static final List<String> OF_COMPARISON =
            List.of("--backends", "--pairs", "--repeats", "--warmup", "--latency");

    @Option(
            names = "--cell",
            paramLabel = "LIST",
            split = ",",
            converter = CellConverter.class,
            description =
                    "memory, 4x-page-cached, 20x-page-cached, 4x-cgroup, or 20x-cgroup (those need"
                            + " permission, see compare --cgroup-limit), with commas (default: all"
                            + " five).")
    List<Cell> cells = List.of(Cell.values());

    @Option(
            names = "--backends",
            paramLabel = "LIST",
            converter = Backends.Converter.class,
            description = "As in compare.")
    private @Nullable Backends backends;

    @Option(names = "--pairs", paramLabel = "N", description = "As in compare.")
    private @Nullable Integer pairs;

    @Option(names = "--repeats", paramLabel = "N", description = "As in compare.")
    private @Nullable Integer repeats;

    @Option(
            names = "--warmup",
            paramLabel = "D",
            converter = Durations.class,
            description = "As in compare.")
    private @Nullable Duration warmUp;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = "Where results are recorded (default: bench/results of the project).")
    Path results = defaultResults();

    @Option(
            names = "--quick",
            description =
                    "One short comparison of two backends, in memory, on the first query: proves that"
                            + " the experiment runs; nothing is recorded.")
    boolean quick;

    static Path defaultResults() {
        return Installation.home().resolve(RESULTS);
    }

    /**
     * How each comparison goes.
     *
     * @param latency null for the usual
     */
    public CompareOptions comparison(@Nullable Duration latency) {
        CompareOptions usual = CompareOptions.USUAL;
        return new CompareOptions(
                backends == null ? usualBackends() : backends.all(),
                pairs == null ? usual.fullPairs() : pairs,
                repeats,
                warmUp == null ? usual.fullWarmUp() : warmUp,
                latency == null ? usual.fullLatency() : latency,
                usual.rate(),
                quick,
                null,
                null,
                null);
    }

    private List<Backend> usualBackends() {
        return quick ? QUICK_BACKENDS : CompareOptions.USUAL.backends();
    }

    /** What of it is not the usual, as it is typed for one of the comparisons. */
    List<String> typed(CommandLine command) {
        List<String> typed = new ArrayList<>();
        if (quick) {
            typed.add("--quick");
        }
        if (quick && backends == null) {
            typed.add(
                    "--backends="
                            + QUICK_BACKENDS.stream().map(Backend::name).collect(joining(",")));
        }
        for (String name : OF_COMPARISON) {
            OptionSpec option = command.getParseResult().matchedOption(name);
            if (option != null) {
                option.originalStringValues().forEach(value -> typed.add(name + "=" + value));
            }
        }
        return typed;
    }

    /** State backends, with commas. */
    record Backends(List<Backend> all) {
        static final class Converter implements ITypeConverter<Backends> {
            @Override
            public Backends convert(String text) {
                Backend.Converter one = new Backend.Converter();
                return new Backends(Stream.of(text.split(",", -1)).map(one::convert).toList());
            }
        }
    }

    /** For picocli. */
    public static final class CellConverter implements ITypeConverter<Cell> {
        @Override
        public Cell convert(String text) {
            try {
                return Cell.of(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
