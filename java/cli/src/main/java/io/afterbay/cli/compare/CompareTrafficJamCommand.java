package io.afterbay.cli.compare;

import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.measure.Target;
import io.afterbay.cli.measure.TrafficJamTarget;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.CommandText;
import io.afterbay.command.Installation;
import io.afterbay.workloads.run.WorkloadException;
import io.afterbay.workloads.trafficjam.TraceArguments;
import io.afterbay.workloads.trafficjam.TrafficJamOptions;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code afterbay compare traffic-jam}. */
@Command(
        name = "traffic-jam",
        description = {
            "Compare state backends on the ranking of the most jammed streets.",
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
            "  ./afterbay compare traffic-jam --quick",
            "  ./afterbay compare traffic-jam --repeat 20 --payload 1000 --memory 1g",
            "  ./afterbay compare traffic-jam --backends afterbay,hashmap --rate 50000",
            "",
            "Exit codes: 0 done and outputs equal, 1 outputs differ, a run failed, nothing to compare,",
            "or a file failed, 2 wrong options, 130 Ctrl-C, 143 SIGTERM."
        })
final class CompareTrafficJamCommand implements Callable<Integer> {
    @Mixin(name = CommandText.JOB)
    private final TraceArguments job = new TraceArguments();

    @Mixin private final CompareArguments arguments = new CompareArguments();
    @Mixin private final EngineArguments engine = new EngineArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        TrafficJamOptions options = job.trace("traffic-jam", Installation.cityTrace().toString());
        if (options.trace().isStandardInput() || options.trace().isPipe()) {
            throw new ParameterException(
                    command, "--input: a comparison reads the trace many times; name a file");
        }
        engine.checkProperties(command);
        return new Compare(arguments.options(), engine.options(), command).run(target(options));
    }

    private static Target target(TrafficJamOptions options) throws CommandFailure {
        try {
            return TrafficJamTarget.of(options);
        } catch (WorkloadException e) {
            throw new CommandFailure(CommandFailure.reason(e), e);
        }
    }
}
