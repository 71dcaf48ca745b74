package io.afterbay.experiments.nexmark;

import io.afterbay.command.CommandLines;
import io.afterbay.experiments.Experiment;
import io.afterbay.experiments.ExperimentArguments;
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

/** {@code afterbay bench sql}. */
@Command(
        name = "sql",
        description = {
            "Compare state backends on the SQL scripts of examples/nexmark-sql, and on those of"
                    + " bench/sql-4x and bench/sql-20x with state of four and twenty times the"
                    + " memory.",
            "",
            "Each comparison is an 'afterbay compare sql', whose runs are appended to"
                    + " bench/results/sql.jsonl. Those that are there for this revision are left"
                    + " out, so the experiment can be stopped and continued.",
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
            "  ./afterbay bench sql --quick",
            "  ./afterbay bench sql --cell memory --script q7,top-n --pairs 3",
            "",
            "Exit codes: 0 done, 1 a comparison or a file failed, 2 wrong options, 130 Ctrl-C,",
            "143 SIGTERM."
        })
public final class BenchSqlCommand implements Callable<Integer> {
    @Option(
            names = "--script",
            paramLabel = "LIST",
            split = ",",
            converter = ScriptConverter.class,
            description = "Names of scripts without .sql, with commas (default: all ten).")
    private List<String> scripts = SqlCells.SCRIPTS;

    @Mixin private final ExperimentArguments arguments = new ExperimentArguments();

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        return new Experiment(
                        "sql",
                        arguments,
                        arguments.comparison(null).withoutOpenLoop(),
                        CommandLines.commandOf(spec))
                .run(scripts, SqlCells::of);
    }

    /** For picocli. */
    static final class ScriptConverter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            if (!SqlCells.SCRIPTS.contains(text)) {
                throw new TypeConversionException(
                        "'%s' is none; use of %s"
                                .formatted(text, String.join(", ", SqlCells.SCRIPTS)));
            }
            return text;
        }
    }
}
