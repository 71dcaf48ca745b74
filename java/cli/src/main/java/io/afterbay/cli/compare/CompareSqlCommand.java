package io.afterbay.cli.compare;

import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.job.SqlArguments;
import io.afterbay.cli.measure.SqlTarget;
import io.afterbay.command.CommandLines;
import io.afterbay.command.CommandText;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay compare FILE.sql}. */
@Command(
        name = "sql",
        description = {
            "Compare state backends on a script of Flink SQL; './afterbay compare FILE.sql' is the"
                    + " same.",
            "",
            "The script runs as it is, at its own pace, to its end or for --duration. Prints a table"
                    + " and writes a page; how it measures: docs/compare.md. Ctrl-C ends the"
                    + " comparison with the report so far.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay compare examples/nexmark-sql/q8.sql --quick",
            "  ./afterbay compare script.sql --duration 60s --memory 4g",
            "",
            "Exit codes: 0 done and no rows differ, 1 rows of a SELECT differ, a run failed, nothing to",
            "compare, or a file failed, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
final class CompareSqlCommand implements Callable<Integer> {
    @Mixin(name = CommandText.JOB)
    private final SqlArguments script = new SqlArguments();

    @Mixin private final CompareProgramArguments program = new CompareProgramArguments();
    @Mixin private final CompareArguments arguments = new CompareArguments();
    @Mixin private final EngineArguments engine = new EngineArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        CompareOptions options = arguments.withoutOpenLoop(command);
        engine.checkProperties(command);
        script.check();
        return new Compare(options, engine.options(), command)
                .run(
                        new SqlTarget(
                                script.file.toString(),
                                program.comparedRules().durationMs(),
                                program.comparedRules()));
    }
}
