package io.afterbay.cli.run;

import io.afterbay.cli.job.JarArguments;
import io.afterbay.cli.job.ProgramArguments;
import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay run FILE.jar}: checks the jar, then starts the worker that runs its main. */
@Command(
        name = "jar",
        description = {
            "Run the main method of a Flink job jar on an embedded engine; './afterbay run FILE.jar'"
                    + " is the same.",
            "",
            "Backend, checkpoints and -D options come as configuration, as with 'flink run'; what the"
                    + " job sets itself comes first. Prints a report of throughput, latency, CPU,"
                    + " memory and disk. Ctrl-C ends the run with the report so far.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay run my-job.jar",
            "  ./afterbay run my-job.jar --class com.acme.Sessions --backend rocksdb -- --events 1000",
            "  ./afterbay run my-job.jar --duration 30s --json report.json",
            "",
            "Exit codes: 0 done, 1 the job or a file failed, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
final class JarCommand implements Callable<Integer> {
    @Mixin private final JarArguments job = new JarArguments();
    @Mixin private final ProgramArguments program = new ProgramArguments();
    @Mixin private final RunArguments engine = new RunArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        String main = job.mainClass(command);
        return RunProcess.run(
                command,
                engine,
                () -> new OutputFiles(job.jar.toString()).check("--json", engine.json),
                new JobPlan.Jar(job.jar.toString(), main, job.arguments, program.rules()));
    }
}
