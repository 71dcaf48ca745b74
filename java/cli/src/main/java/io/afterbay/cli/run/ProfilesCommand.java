package io.afterbay.cli.run;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import io.afterbay.workloads.profiles.ProfilesArguments;
import io.afterbay.workloads.profiles.ProfilesOptions;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code afterbay run profiles}: checks what can be checked, then starts the worker. */
@Command(
        name = "profiles",
        description = {
            "Bring titles of generated profiles into the words of a dictionary.",
            "",
            "Prints a report of throughput, latency, CPU, memory and disk. Ctrl-C ends the run with"
                    + " the report so far.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay run profiles",
            "  ./afterbay run profiles --dictionary 1 --output titles.csv",
            "  ./afterbay run profiles --rate 50000 --verify",
            "",
            "Exit codes: 0 done, 1 the job, the check or a file failed, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
final class ProfilesCommand implements Callable<Integer> {
    private static final String RUN = "profiles";

    @Mixin private final ProfilesArguments job = new ProfilesArguments();

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Open loop: N records per second by a fixed schedule, whatever the job does;"
                            + " latencies count from the schedule. 0, the default: as fast as"
                            + " possible.")
    private double rate;

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Write all rows to this CSV file; an existing file is replaced.")
    private @Nullable String output;

    @Option(
            names = "--verify",
            description =
                    "Compare all rows with an answer that is computed without the engine; the"
                            + " command fails if they differ.")
    private boolean verify;

    @Mixin private final RunArguments engine = new RunArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        ProfilesOptions options = job.options(RUN, rate, output);
        CommandLine command = CommandLines.commandOf(spec);
        if (verify) {
            engine.refuseOn(command, "--verify reads the rows");
        }
        if (RunPlan.STANDARD_OUTPUT.equals(output)) {
            engine.refuseOn(command, "--output - prints the rows");
        }
        return RunProcess.run(
                command, engine, this::checkFiles, new JobPlan.Profiles(options, verify));
    }

    private void checkFiles() throws CommandFailure {
        OutputFiles files = new OutputFiles();
        if (output != null && !RunPlan.STANDARD_OUTPUT.equals(output)) {
            files.check("--output", Path.of(output));
        }
        files.check("--json", engine.json);
    }
}
