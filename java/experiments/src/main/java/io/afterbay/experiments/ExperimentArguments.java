package io.afterbay.experiments;

import io.afterbay.bench.Cell;
import io.afterbay.command.Installation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Options of an experiment, whatever it compares the backends on. */
public final class ExperimentArguments {
    private static final String RESULTS = "bench/results";
    private static final String QUICK_BACKENDS = "afterbay,rocksdb-heap-timers";

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

    @Option(names = "--backends", paramLabel = "LIST", description = "As in compare.")
    private @Nullable String backends;

    @Option(names = "--pairs", paramLabel = "N", description = "As in compare.")
    private @Nullable String pairs;

    @Option(names = "--repeats", paramLabel = "N", description = "As in compare.")
    private @Nullable String repeats;

    @Option(names = "--warmup", paramLabel = "D", description = "As in compare.")
    private @Nullable String warmUp;

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

    /** The options of the comparisons that were given. */
    public List<String> ofComparison() {
        List<String> arguments = new ArrayList<>();
        if (quick) {
            arguments.add("--quick");
        }
        add(arguments, "--backends", quick && backends == null ? QUICK_BACKENDS : backends);
        add(arguments, "--pairs", pairs);
        add(arguments, "--repeats", repeats);
        add(arguments, "--warmup", warmUp);
        return arguments;
    }

    public static void add(List<String> arguments, String option, @Nullable String value) {
        if (value != null) {
            arguments.add(option + "=" + value);
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
