package io.afterbay.cli.run;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.Installation;
import io.afterbay.command.OutputFiles;
import io.afterbay.workloads.run.WorkloadException;
import io.afterbay.workloads.trafficjam.TraceFile;
import io.afterbay.workloads.trafficjam.TrafficJamArguments;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code afterbay run traffic-jam}: checks everything that can be checked before a job starts, then
 * starts the worker.
 */
@Command(
        name = "traffic-jam",
        description = {
            "Rank the most jammed streets of every ten seconds of a city's traffic.",
            "",
            "Prints the last ranking and a report of throughput, latency, CPU, memory and disk."
                    + " Ctrl-C ends the run with the report so far.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay run traffic-jam",
            "  ./afterbay run traffic-jam --backend rocksdb --memory 1g --output ranking.csv",
            "  ./afterbay run traffic-jam --rate 50000 --repeat 10 --json report.json",
            "  zcat my-trace.csv.gz | ./afterbay run traffic-jam --input -",
            "",
            "Exit codes: 0 done, 1 the job or a file failed, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
final class TrafficJamCommand implements Callable<Integer> {
    private static final String RUN = "traffic-jam";

    @Mixin private final TrafficJamArguments job = new TrafficJamArguments();
    @Mixin private final RunArguments engine = new RunArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        TrafficJamOptions options = job.options(RUN, Installation.cityTrace().toString());
        if (RunPlan.STANDARD_OUTPUT.equals(options.output())) {
            engine.refuseOn(command(), "--output - prints the rows");
        }
        if (options.trace().isStandardInput()) {
            engine.refuseOn(command(), "--input - reads standard input");
        }
        return RunProcess.run(
                command(), engine, () -> check(options), new JobPlan.TrafficJam(options));
    }

    private void check(TrafficJamOptions options) throws CommandFailure {
        try {
            checkFiles(options);
        } catch (InvalidPathException e) {
            throw bad(
                    "'%s' is no file name here: %s; for names beyond ASCII set LC_ALL=C.UTF-8"
                            .formatted(e.getInput(), e.getReason()));
        }
    }

    private void checkFiles(TrafficJamOptions options) throws CommandFailure {
        TraceFile trace = options.trace();
        if (options.repeat() > 1 && !trace.isStandardInput() && trace.isPipe()) {
            throw bad("--repeat needs a file: " + options.input() + " can be read only once");
        }
        try {
            trace.check();
        } catch (WorkloadException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        }
        OutputFiles files = new OutputFiles(options.input());
        if (!RunPlan.STANDARD_OUTPUT.equals(options.output())) {
            files.check("--output", path(options.output()));
        }
        files.check("--rejects", path(options.rejects()));
        files.check("--json", engine.json);
    }

    private static @Nullable Path path(@Nullable String name) {
        return name == null ? null : Path.of(name);
    }

    private CommandLine command() {
        return CommandLines.commandOf(spec);
    }

    private ParameterException bad(String message) {
        return new ParameterException(command(), message);
    }
}
