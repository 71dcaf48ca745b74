package io.afterbay.cli;

import io.afterbay.cli.compare.CompareCommand;
import io.afterbay.cli.process.Versions;
import io.afterbay.cli.replay.ReplayCommand;
import io.afterbay.cli.run.RunCommand;
import io.afterbay.command.CommandLines;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command line: dispatches to one class per verb. */
@Command(
        name = "afterbay",
        description = "Even latency for stateful stream processing.",
        subcommands = {RunCommand.class, CompareCommand.class, ReplayCommand.class},
        versionProvider = Versions.class,
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Exit codes: 0 done, 1 a job or a file failed, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
public final class Afterbay implements Callable<Integer> {

    @Spec private @Nullable CommandSpec spec;

    private Afterbay() {}

    public static void main(String[] args) {
        System.exit(commandLine().execute(Targets.named(args)));
    }

    public static CommandLine commandLine() {
        return CommandLines.of(new Afterbay());
    }

    @Override
    public Integer call() {
        throw CommandLines.missingVerb(spec, "a command");
    }
}
