package io.afterbay.cli.replay;

import io.afterbay.cli.run.JobPlan;
import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import io.afterbay.workloads.profiles.ProfilesArguments;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code afterbay replay profiles}. */
@Command(
        name = "profiles",
        description = {"Bring titles of a part of the profiles into words of a dictionary.", ""},
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  ./afterbay replay profiles --from @200 --to @400 --output past.csv"})
final class ReplayProfilesCommand implements Callable<Integer> {
    @Mixin private final ProfilesArguments job = new ProfilesArguments();

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Write all rows to this CSV file; an existing file is replaced.")
    private @Nullable Path output;

    @Mixin private final ReplayArguments replay = new ReplayArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        OutputFiles files = new OutputFiles();
        files.check("--output", output);
        return replay.run(
                CommandLines.commandOf(spec),
                "profiles",
                new JobPlan.Profiles(
                        job.options("profiles", 0, output == null ? null : output.toString()),
                        false),
                files);
    }
}
