package io.afterbay.command;

import static java.util.stream.Collectors.joining;

import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Commands as a user would type them. */
public final class CommandText {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_./:=,@%+-]+");

    /** Name of the mixin with the options of the job. */
    public static final String JOB = "job";

    private CommandText() {}

    /** All of it. */
    public static String of(List<String> args) {
        return "./afterbay " + quoted(args.stream());
    }

    /** The name of a command, with those of its given options that are the job's own. */
    public static String job(CommandLine command) {
        CommandSpec options = Objects.requireNonNull(command.getCommandSpec().mixins().get(JOB));
        Stream<String> given =
                command.getParseResult().matchedOptions().stream()
                        .filter(option -> options.findOption(option.longestName()) != null)
                        .flatMap(CommandText::words);
        return quoted(Stream.concat(Stream.of(command.getCommandName()), given));
    }

    private static Stream<String> words(OptionSpec option) {
        return Stream.concat(
                Stream.of(option.longestName()), option.originalStringValues().stream());
    }

    public static String quoted(Stream<String> words) {
        return words.map(CommandText::quoted).collect(joining(" "));
    }

    private static String quoted(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
