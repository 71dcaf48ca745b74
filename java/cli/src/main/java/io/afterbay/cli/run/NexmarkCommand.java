package io.afterbay.cli.run;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import io.afterbay.workloads.nexmark.NexmarkArguments;
import io.afterbay.workloads.nexmark.NexmarkOptions;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code afterbay run nexmark}: checks everything that can be checked before a job starts, then
 * starts the worker.
 */
@Command(
        name = "nexmark",
        description = {
            "Run a query of NEXMark, the auction house, on generated events.",
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
            "  ./afterbay run nexmark --query q7",
            "  ./afterbay run nexmark --query q11-median --backend rocksdb --events 10000000",
            "  ./afterbay run nexmark --query q5 --rate 50000 --json report.json",
            "  ./afterbay run nexmark --query q8 --verify",
            "",
            "Exit codes: 0 done, 1 the job, the check or a file failed, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
final class NexmarkCommand implements Callable<Integer> {
    private static final String RUN = "nexmark";

    @Mixin private final NexmarkArguments job = new NexmarkArguments();

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
        NexmarkOptions options = job.options(RUN);
        CommandLine command = CommandLines.commandOf(spec);
        if (verify) {
            engine.refuseOn(command, "--verify reads the rows");
        }
        if (RunPlan.STANDARD_OUTPUT.equals(options.output())) {
            engine.refuseOn(command, "--output - prints the rows");
        }
        return RunProcess.run(
                command, engine, () -> check(options), new JobPlan.Nexmark(options, verify));
    }

    private void check(NexmarkOptions options) throws CommandFailure {
        OutputFiles files = new OutputFiles();
        String output = options.output();
        if (output != null && !RunPlan.STANDARD_OUTPUT.equals(output)) {
            files.check("--output", Path.of(output));
        }
        files.check("--json", engine.json);
    }
}
