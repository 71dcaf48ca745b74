package io.afterbay.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** The command line: dispatches to one class per verb. */
@Command(
        name = "afterbay",
        description = "Even latency for stateful stream processing.",
        subcommands = {
            RunCommand.class,
            CompareCommand.class,
            BenchCommand.class,
            DoctorCommand.class
        },
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

    public static void main(String[] args) throws Exception {
        int code = commandLine().execute(Targets.named(args));
        if (WorkDirectory.ofWorker().isPresent()) {
            System.out.flush();
            System.err.flush();
            if (SystemExit.isCalled() && code == ExitCode.OK) {
                SystemExit.allow();
            }
            // Nothing is left to do that a hook of the engine could wait for.
            Runtime.getRuntime().halt(code);
        }
        System.exit(code);
    }

    static CommandLine commandLine() {
        return new CommandLine(new Afterbay())
                .setParameterExceptionHandler(Afterbay::usage)
                .setExecutionExceptionHandler(Afterbay::failure);
    }

    @Override
    public Integer call() {
        throw missingVerb(spec, "a command");
    }

    static ParameterException missingVerb(@Nullable CommandSpec spec, String what) {
        return new ParameterException(commandOf(spec), "name " + what);
    }

    /** The command line that picocli has called. */
    static CommandLine commandOf(@Nullable CommandSpec spec) {
        if (spec == null) {
            throw new IllegalStateException("not called by picocli");
        }
        return spec.commandLine();
    }

    private static int usage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        PrintWriter err = command.getErr();
        err.println(command.getCommandSpec().qualifiedName() + ": " + e.getMessage());
        if (!CommandLine.UnmatchedArgumentException.printSuggestions(e, err)) {
            err.println();
            err.print(shortUsage(command));
        }
        err.flush();
        return ExitCode.USAGE;
    }

    private static String shortUsage(CommandLine command) {
        CommandLine.Help help = command.getHelp();
        String commands = help.commandList();
        return "Usage: "
                + help.synopsis(7)
                + (commands.isEmpty() ? "" : "Commands:\n" + commands)
                + "Try '"
                + command.getCommandSpec().qualifiedName()
                + " --help'.\n";
    }

    private static int failure(Exception e, CommandLine command, ParseResult parsed)
            throws Exception {
        if (!(e instanceof CommandFailure)) {
            throw e;
        }
        command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + e.getMessage());
        command.getErr().flush();
        return ExitCode.FAILURE;
    }
}
