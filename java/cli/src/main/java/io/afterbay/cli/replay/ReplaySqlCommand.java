package io.afterbay.cli.replay;

import io.afterbay.cli.job.SqlArguments;
import io.afterbay.cli.run.JobPlan;
import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code afterbay replay sql}. */
@Command(
        name = "sql",
        description = {
            "Run a script of Flink SQL on the past; './afterbay replay FILE.sql' is the same.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay replay script.sql --from 2026-11-28T00:00:00Z --to 2026-11-28T06:00:00Z"
        })
final class ReplaySqlCommand implements Callable<Integer> {
    @Mixin private final SqlArguments script = new SqlArguments();

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description =
                    "Write all rows of the script's SELECT to this file as CSV. Default: show the"
                            + " first 20.")
    private @Nullable Path output;

    @Mixin private final OutputArguments sinks = new OutputArguments();

    @Mixin private final ReplayArguments replay = new ReplayArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        script.check();
        OutputFiles files = new OutputFiles(script.file.toString());
        files.check("--output", output);
        return replay.run(
                CommandLines.commandOf(spec),
                String.valueOf(script.file.getFileName()),
                new JobPlan.Sql(
                        script.file.toString(),
                        output == null ? null : output.toString(),
                        sinks.rules()),
                sinks.merge(CommandLines.commandOf(spec)),
                sinks.isBlocking(),
                files);
    }
}
