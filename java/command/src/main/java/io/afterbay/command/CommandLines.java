package io.afterbay.command;

import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Command lines that answer as users expect: wrong ones by a short usage and {@link
 * ExitCode#USAGE}, a {@link CommandFailure} by its message and {@link ExitCode#FAILURE}.
 */
public final class CommandLines {
    private CommandLines() {}

    /**
     * @param command an object with picocli's annotations
     */
    public static CommandLine of(Object command) {
        return new CommandLine(command)
                .setExpandAtFiles(false)
                .setParameterExceptionHandler(CommandLines::usage)
                .setExecutionExceptionHandler(CommandLines::failure);
    }

    /** The answer to a command line that lacks a word. */
    public static ParameterException missingVerb(@Nullable CommandSpec spec, String what) {
        return new ParameterException(commandOf(spec), "name " + what);
    }

    /** The command line that picocli has called. */
    public static CommandLine commandOf(@Nullable CommandSpec spec) {
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
