package io.afterbay.cli.compare;

import io.afterbay.cli.engine.EngineArguments;
import io.afterbay.cli.job.JarArguments;
import io.afterbay.cli.measure.JarTarget;
import io.afterbay.command.CommandLines;
import io.afterbay.command.CommandText;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code afterbay compare FILE.jar}. */
@Command(
        name = "jar",
        description = {
            "Compare state backends on a Flink job jar; './afterbay compare FILE.jar' is the same.",
            "",
            "The job runs as it is, at its own pace, to its end or for --duration. Prints a table and"
                    + " writes a page; how it measures: docs/compare.md. Ctrl-C ends the comparison"
                    + " with the report so far.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay compare my-job.jar --quick",
            "  ./afterbay compare my-job.jar --duration 60s --memory 4g -- --my-option",
            "",
            "Exit codes: 0 done, 1 a run failed, nothing to compare, or a file failed, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
final class CompareJarCommand implements Callable<Integer> {
    @Mixin(name = CommandText.JOB)
    private final JarArguments job = new JarArguments();

    @Mixin private final CompareProgramArguments program = new CompareProgramArguments();
    @Mixin private final CompareArguments arguments = new CompareArguments();
    @Mixin private final EngineArguments engine = new EngineArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        CompareOptions options = arguments.withoutOpenLoop(command);
        engine.checkProperties(command);
        String main = job.mainClass(command);
        return new Compare(options, engine.options(), command)
                .run(
                        new JarTarget(
                                job.jar.toString(),
                                main,
                                job.arguments,
                                job.words(),
                                program.comparedRules().durationMs(),
                                program.comparedRules()));
    }
}
