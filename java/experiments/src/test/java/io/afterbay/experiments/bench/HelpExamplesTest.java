package io.afterbay.experiments.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.experiments.TrialCommand;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** What the help texts give as examples are right command lines. */
class HelpExamplesTest {
    private static final String PROGRAM = "./afterbay bench ";

    record Example(String command, String arguments) {
        @Override
        public String toString() {
            return PROGRAM + arguments;
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void isAccepted(Example example) {
        assertThat(accept(example.arguments)).startsWith(example.command);
    }

    static List<Example> examples() {
        List<Example> examples =
                commands(Bench.commandLine()).flatMap(HelpExamplesTest::of).toList();
        assertThat(examples).hasSizeGreaterThan(20);
        return examples;
    }

    /** Negative control: so would be such an example. */
    @Test
    void wrongOptionsAndWrongCombinationsAreNot() {
        assertThatThrownBy(() -> accept("sweep --parametre hot-tier-part"))
                .isInstanceOf(ParameterException.class);
        assertThatThrownBy(() -> accept("sweep --cell 4x-cgroup"))
                .isInstanceOf(ParameterException.class);
    }

    /** Picocli takes texts for formats, and warns of what is none beside what it prints. */
    @Test
    void everyHelpIsFormatted() {
        PrintStream before = System.err;
        ByteArrayOutputStream warnings = new ByteArrayOutputStream();
        System.setErr(new PrintStream(warnings, true, StandardCharsets.UTF_8));
        try {
            commands(Bench.commandLine())
                    .forEach(
                            command ->
                                    assertThat(command.getUsageMessage())
                                            .contains(command.getCommandSpec().qualifiedName())
                                            .doesNotContain("%%", "%n", "${"));
        } finally {
            System.setErr(before);
        }
        assertThat(warnings.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    private static Stream<CommandLine> commands(CommandLine command) {
        return Stream.concat(
                Stream.of(command),
                command.getSubcommands().values().stream()
                        .distinct()
                        .flatMap(HelpExamplesTest::commands));
    }

    private static Stream<Example> of(CommandLine command) {
        return Arrays.stream(command.getCommandSpec().usageMessage().footer())
                .map(line -> line.formatted().strip())
                .filter(line -> line.startsWith(PROGRAM))
                .map(line -> line.substring(PROGRAM.length()).replaceAll(" +#.*", ""))
                .map(arguments -> new Example(command.getCommandSpec().qualifiedName(), arguments));
    }

    /** The name of the command that takes them. */
    private static String accept(String arguments) {
        var parsed = Bench.commandLine().parseArgs(arguments.split(" "));
        while (parsed.hasSubcommand()) {
            parsed = parsed.subcommand();
        }
        CommandLine command = parsed.commandSpec().commandLine();
        if (command.getCommandSpec().userObject() instanceof TrialCommand<?, ?> trials) {
            trials.checked(command);
        }
        return command.getCommandSpec().qualifiedName();
    }
}
