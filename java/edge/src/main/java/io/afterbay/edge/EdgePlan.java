package io.afterbay.edge;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.ExitCode;
import io.afterbay.edge.plan.ScriptPlan;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.run.RunnableJob;
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
            "  ./afterbay edge plan my-job.sql --local device",
            "  ./afterbay edge plan my-job.sql --jar flink-sql-connector-kafka-5.0.0-2.2.jar --keep plan.json",
            "  ./afterbay edge plan my-job.sql --json | jq '.nodes[] | select(.location == \"cloud\")'",
            "",
            "Exit codes: 0 done, also if all of it stays in the cloud; 1 the script or its plan is wrong;",
            "2 wrong options."
        })
final class EdgePlan implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper();

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
        ScriptPlan script = job.plan(CommandLines.commandOf(spec), false);
        String plan = script.plan().toString();
        if (keep != null) {
            write(keep, plan);
        }
        PrintWriter out = CommandLines.commandOf(spec).getOut();
        try (WorkFiles work = new WorkFiles()) {
            Path file = Files.writeString(work.directory().resolve("plan.json"), plan);
            String report = EdgeProgram.installed().report(file, script.local(), json);
            out.print(withObstacle(report, obstacle(script)));
        }
        out.flush();
        return ExitCode.OK;
    }

    /** Why {@code edge run} does not run it; null if it does. */
    private static @Nullable String obstacle(ScriptPlan script) {
        try {
            RunnableJob.of(script);
            return null;
        } catch (CommandFailure e) {
            return CommandFailure.reason(e);
        }
    }

    private String withObstacle(String report, @Nullable String obstacle) throws IOException {
        if (obstacle == null) {
            return report;
        }
        if (json) {
            ObjectNode object = (ObjectNode) JSON.readTree(report);
            return object.put("notRun", obstacle) + "\n";
        }
        return report + "\n'afterbay edge run' does not run this job: " + obstacle + "\n";
    }

    private static void write(Path file, String plan) throws CommandFailure {
        try {
            Files.writeString(file, plan);
        } catch (IOException e) {
            throw new CommandFailure("--keep " + file + ": " + CommandFailure.reason(e), e);
        }
    }
}
