package io.afterbay.edge;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.ExitCode;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.run.WorkFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code afterbay edge plan APP}: where a job is cut, and why not further up. */
@Command(
        name = "plan",
        description = {
            "Show the plan that Flink makes of a script or an app, where it is cut, and for each node that stays in"
                    + " the cloud, why. Nothing is run.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay edge plan examples/edge-traffic/streets.sql",
            "  ./afterbay edge plan my-job.sql --json | jq '.nodes[] | select(.location == \"cloud\")'",
            "",
            "Exit codes: 0 done, also if all of it stays in the cloud; 1 the script or its plan is wrong;",
            "2 wrong options."
        })
final class EdgePlan implements Callable<Integer> {
    @Mixin private JobArguments job = new JobArguments();

    @Option(names = "--json", description = "As JSON, on standard output.")
    private boolean json;

    @Option(
            names = "--keep",
            paramLabel = "FILE",
            description = "Also write the plan to this file, for 'afterbay edge cut' and 'exec'.")
    private @Nullable Path keep;

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        String plan = job.plan(CommandLines.commandOf(spec)).plan().toString();
        if (keep != null) {
            write(keep, plan);
        }
        PrintWriter out = CommandLines.commandOf(spec).getOut();
        try (WorkFiles work = new WorkFiles()) {
            Path file = Files.writeString(work.directory().resolve("plan.json"), plan);
            out.print(EdgeProgram.installed().report(file, json));
        }
        out.flush();
        return ExitCode.OK;
    }

    private static void write(Path file, String plan) throws CommandFailure {
        try {
            Files.writeString(file, plan);
        } catch (IOException e) {
            throw new CommandFailure("--keep " + file + ": " + CommandFailure.reason(e), e);
        }
    }
}
