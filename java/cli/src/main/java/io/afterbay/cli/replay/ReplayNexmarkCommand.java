package io.afterbay.cli.replay;

import io.afterbay.cli.run.JobPlan;
import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import io.afterbay.workloads.nexmark.NexmarkOptions;
import io.afterbay.workloads.nexmark.QueryArguments;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code afterbay replay nexmark}. */
@Command(
        name = "nexmark",
        description = {"Run a query of NEXMark on a part of its events once more.", ""},
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  ./afterbay replay nexmark --query q7 --from @20 --to @40 --output past.csv"})
final class ReplayNexmarkCommand implements Callable<Integer> {
    @Mixin private final QueryArguments job = new QueryArguments();

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Write all rows to this CSV file; an existing file is replaced.")
    private @Nullable Path output;

    @Mixin private final ReplayArguments replay = new ReplayArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        NexmarkOptions options = job.query("nexmark");
        OutputFiles files = new OutputFiles();
        files.check("--output", output);
        return replay.run(
                CommandLines.commandOf(spec),
                "nexmark-" + options.query(),
                new JobPlan.Nexmark(
                        output == null ? options : options.writingTo(output.toString()), false),
                files);
    }
}
