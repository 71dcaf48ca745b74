package io.afterbay.cli.run;

import io.afterbay.cli.job.ProgramArguments;
import io.afterbay.cli.job.SqlArguments;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code afterbay run FILE.sql}: checks the script's file, then starts the worker that runs it. */
@Command(
        name = "sql",
        description = {
            "Run a script of Flink SQL on an embedded engine; './afterbay run FILE.sql' is the same.",
            "",
            "Statements run one after the other; INSERT, STATEMENT SET and SELECT as jobs, whose end"
                    + " is waited for. Prints the first rows of each SELECT, and a report of"
                    + " throughput, latency, CPU, memory and disk. Ctrl-C ends the run with the"
                    + " report so far.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay run examples/nexmark-sql/q7.sql",
            "  ./afterbay run script.sql --backend rocksdb --output rows.csv",
            "  ./afterbay run script.sql --duration 30s -D table.exec.mini-batch.enabled=true",
            "",
            "Exit codes: 0 done, 1 a statement, a job or a file failed, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
final class SqlCommand implements Callable<Integer> {
    @Mixin private final SqlArguments script = new SqlArguments();

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description =
                    "Write all rows of the script's SELECT to this file as CSV, or - for standard"
                            + " output; with a first column op (+I, -U, +U, -D) if rows are taken"
                            + " back. Default: show the first 20.")
    private @Nullable String output;

    @Mixin private final ProgramArguments program = new ProgramArguments();
    @Mixin private final RunArguments engine = new RunArguments();
    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        script.check();
        return RunProcess.run(
                CommandLines.commandOf(spec),
                engine,
                this::checkFiles,
                new JobPlan.Sql(script.file.toString(), output, program.rules()));
    }

    private void checkFiles() throws CommandFailure {
        OutputFiles files = new OutputFiles(script.file.toString());
        if (output != null && !RunPlan.STANDARD_OUTPUT.equals(output)) {
            files.check("--output", Path.of(output));
        }
        files.check("--json", engine.json);
    }
}
