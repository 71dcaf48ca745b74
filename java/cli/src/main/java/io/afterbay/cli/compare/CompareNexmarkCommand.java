package io.afterbay.cli.compare;

import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.measure.NexmarkTarget;
import io.afterbay.command.CommandLines;
import io.afterbay.command.CommandText;
import io.afterbay.workloads.nexmark.QueryArguments;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay compare nexmark}. */
@Command(
        name = "nexmark",
        description = {
            "Compare state backends on a query of NEXMark, the auction house.",
            "",
            "Prints a table and writes a page; how it measures: docs/compare.md. Ctrl-C ends the"
                    + " comparison with the report so far.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay compare nexmark --query q7 --quick",
            "  ./afterbay compare nexmark --query q11-median --memory 1g --events 10000000",
            "  ./afterbay compare nexmark --query q5 --backends afterbay,rocksdb --json report.json",
            "",
            "Exit codes: 0 done and outputs equal, 1 outputs differ, a run failed, nothing to compare,",
            "or a file failed, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
final class CompareNexmarkCommand implements Callable<Integer> {
    @Mixin(name = CommandText.JOB)
    private final QueryArguments job = new QueryArguments();

    @Mixin private final CompareArguments arguments = new CompareArguments();
    @Mixin private final EngineArguments engine = new EngineArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        engine.checkProperties(command);
        return new Compare(arguments.options(), engine.options(), command)
                .run(new NexmarkTarget(job.query("nexmark")));
    }
}
