package io.afterbay.experiments.nexmark;

import io.afterbay.command.CommandLines;
import io.afterbay.command.Durations;
import io.afterbay.experiments.Experiment;
import io.afterbay.experiments.ExperimentArguments;
import io.afterbay.workloads.nexmark.Query;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code afterbay bench nexmark}. */
@Command(
        name = "nexmark",
        description = {
            "Compare state backends on the NEXMark queries, with state in memory, and of four and"
                    + " twenty times the memory.",
            "",
            "Each comparison is an 'afterbay compare nexmark', whose runs are appended to"
                    + " bench/results/nexmark.jsonl. Those that are there for this revision are"
                    + " left out, so the experiment can be stopped and continued.",
            "",
            "Also recorded, as CPU time per event: what tasks do in the state backend, writes and"
                    + " reads apart, and its background work (docs/compare.md).",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay bench nexmark --quick",
            "  ./afterbay bench nexmark --cell memory --query q7,q11-median",
            "  ./afterbay bench nexmark --pairs 3 --warmup 10s --latency off",
            "",
            "Exit codes: 0 done, 1 a comparison or a file failed, 2 wrong options, 130 Ctrl-C,",
            "143 SIGTERM."
        })
public final class BenchNexmarkCommand implements Callable<Integer> {
    @Option(
            names = "--query",
            paramLabel = "LIST",
            split = ",",
            converter = QueryConverter.class,
            description = "Queries, with commas (default: all eight).")
    private List<Query> queries = List.of(Query.values());

    @Mixin private final ExperimentArguments arguments = new ExperimentArguments();

    @Option(
            names = "--latency",
            paramLabel = "D",
            converter = Durations.class,
            description = "As in compare.")
    private @Nullable Duration latency;

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        return new Experiment(
                        "nexmark",
                        arguments,
                        arguments.comparison(latency),
                        CommandLines.commandOf(spec))
                .run(queries, NexmarkCells::of);
    }

    /** For picocli. */
    public static final class QueryConverter implements ITypeConverter<Query> {
        @Override
        public Query convert(String text) {
            return Query.named(text)
                    .orElseThrow(
                            () ->
                                    new TypeConversionException(
                                            "'" + text + "' is none; use of " + Query.names()));
        }
    }
}
