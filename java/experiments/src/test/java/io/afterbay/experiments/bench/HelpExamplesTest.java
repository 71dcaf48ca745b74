package io.afterbay.experiments.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.experiments.TrialCommand;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** What help texts and documents give as examples are right command lines. */
class HelpExamplesTest {
    private static final String PROGRAM = "./afterbay bench ";
    private static final Path DOCUMENTS = Path.of("../../docs");

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

    /**
     * So are options and values of the commands that documents show, to measure something or to
     * repeat a run. Whether this machine has what a command needs is no matter of theirs.
     */
    @ParameterizedTest
    @MethodSource("commandsOfDocuments")
    void ofADocumentIsAccepted(String command) {
        assertThat(parse(arguments(command)).getParent()).as("of a subcommand").isNotNull();
    }

    static List<String> commandsOfDocuments() throws IOException {
        List<String> commands = new ArrayList<>();
        try (DirectoryStream<Path> documents = Files.newDirectoryStream(DOCUMENTS, "*.md")) {
            for (Path document : documents) {
                Files.readString(document)
                        .lines()
                        .map(String::strip)
                        .filter(line -> line.startsWith(PROGRAM))
                        .distinct()
                        .forEach(commands::add);
            }
        }
        assertThat(commands).hasSizeGreaterThan(20);
        return commands;
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
                .map(HelpExamplesTest::arguments)
                .map(arguments -> new Example(command.getCommandSpec().qualifiedName(), arguments));
    }

    /** Of a line with the program, and with a comment if it has one. */
    private static String arguments(String line) {
        return line.substring(PROGRAM.length()).replaceAll(" +#.*", "");
    }

    /** The name of the command that takes them. */
    private static String accept(String arguments) {
        CommandLine command = parse(arguments);
        if (command.getCommandSpec().userObject() instanceof TrialCommand<?, ?> trials) {
            trials.checked(command);
        }
        return command.getCommandSpec().qualifiedName();
    }

    /** The command that takes them. */
    private static CommandLine parse(String arguments) {
        var parsed = Bench.commandLine().parseArgs(arguments.split(" "));
        while (parsed.hasSubcommand()) {
            parsed = parsed.subcommand();
        }
        return parsed.commandSpec().commandLine();
    }
}
