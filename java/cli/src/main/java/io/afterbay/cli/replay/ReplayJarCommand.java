package io.afterbay.cli.replay;

import io.afterbay.cli.job.JarArguments;
import io.afterbay.cli.run.JobPlan;
import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay replay jar}. */
@Command(
        name = "jar",
        description = {
            "Run the main method of a Flink job jar on the past; './afterbay replay FILE.jar' is the same.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay replay my-job.jar --from -15min --rate 5000 --own-output -- --output past",
            "  ./afterbay replay my-job.jar --from -15min --rate 5000 --mode beside"
        })
final class ReplayJarCommand implements Callable<Integer> {
    @Mixin private final JarArguments job = new JarArguments();

    @Mixin private final OutputArguments output = new OutputArguments();

    @Mixin private final ReplayArguments replay = new ReplayArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        String main = job.mainClass(command);
        return replay.run(
                command,
                String.valueOf(job.jar.getFileName()),
                new JobPlan.Jar(job.jar.toString(), main, job.arguments, output.rules()),
                output.merge(command),
                output.isBlocking(),
                new OutputFiles(job.jar.toString()));
    }
}
