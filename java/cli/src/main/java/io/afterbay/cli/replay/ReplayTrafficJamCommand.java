package io.afterbay.cli.replay;

import io.afterbay.cli.run.JobPlan;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.Installation;
import io.afterbay.command.OutputFiles;
import io.afterbay.workloads.run.WorkloadException;
import io.afterbay.workloads.trafficjam.TraceArguments;
import io.afterbay.workloads.trafficjam.TraceFile;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code afterbay replay traffic-jam}. */
@Command(
        name = "traffic-jam",
        description = {
            "Rank the most jammed streets of a part of a trace once more. The trace must be a file.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay replay traffic-jam --from @600 --to @1200 --rate 50000 --output past.csv"
        })
final class ReplayTrafficJamCommand implements Callable<Integer> {
    @Mixin private final TraceArguments job = new TraceArguments();

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Write all rows to this CSV file; an existing file is replaced.")
    private @Nullable Path output;

    @Mixin private final ReplayArguments replay = new ReplayArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        TrafficJamOptions options = job.trace("traffic-jam", Installation.cityTrace().toString());
        check(CommandLines.commandOf(spec), options.trace());
        OutputFiles files = new OutputFiles(options.input());
        files.check("--output", output);
        return replay.run(
                CommandLines.commandOf(spec),
                "traffic-jam",
                new JobPlan.TrafficJam(
                        output == null ? options : options.writingTo(output.toString())),
                files);
    }

    private static void check(CommandLine command, TraceFile trace) throws CommandFailure {
        if (trace.isStandardInput() || trace.isPipe()) {
            throw new ParameterException(
                    command, "--input: a replay may have to read the trace again; name a file");
        }
        try {
            trace.check();
        } catch (WorkloadException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        }
    }
}
