package io.afterbay.cli.replay;

import io.afterbay.cli.job.JarArguments;
import io.afterbay.cli.job.RunRules;
import io.afterbay.cli.run.JobPlan;
import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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
            "  ./afterbay replay my-job.jar --from -15min --rate 5000 --own-output -- --output past"
        })
final class ReplayJarCommand implements Callable<Integer> {
    @Mixin private final JarArguments job = new JarArguments();

    @Option(
            names = "--own-output",
            description =
                    "The job's sinks are not those of the live job: without it, a job whose sinks"
                            + " write to the outside is refused.")
    private boolean ownOutput;

    @Mixin private final ReplayArguments replay = new ReplayArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        String main = job.mainClass(command);
        return replay.run(
                command,
                String.valueOf(job.jar.getFileName()),
                new JobPlan.Jar(
                        job.jar.toString(),
                        main,
                        job.arguments,
                        new RunRules(0, ownOutput ? null : "--own-output")),
                new OutputFiles(job.jar.toString()));
    }
}
