package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** What is refused before a worker starts: exit code, the option by name, and the way out. */
class CommandLineTest {
    private static final String HEADER = "time_s,car,street,x_m,y_m,speed_mps\n";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    @TempDir private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--backend rockdb | rocksdb-heap-timers",
                "--memory 12q | '12q' is not a size",
                "--memory 64m | needs at least",
                "--memory 900t | this machine has",
                "--parallelism 0 | from 1 to 128",
                "--parallelism 2x | --parallelism",
                "--checkpoint-interval 5 | for example 10s",
                "--checkpoint-interval 1ms | 10ms or more",
                "--rate -1 | --rate -1",
                "--rate NaN | --rate NaN",
                "--repeat 0 | from 1 to 10000",
                "--repeat 2 --input - | can be read only once",
                "--payload -1 | --payload -1",
                "-D table.exec.mini-batch.size | KEY=VALUE",
                "-D state.backend.type=hashmap | use --backend instead",
                "-D taskmanager.memory.network.max=1g | use --memory instead",
                "-D execution.checkpointing.timeout=soon | Could not parse value 'soon'",
                "-D execution.checkpointing.mode=SOMETIMES | EXACTLY_ONCE",
                "-D state.backend.afterbay.max-space-amplification=much | Could not parse",
                "--on localhost | is no HOST:PORT",
                "--on localhost:1 --memory 1g | --memory has no meaning with --on",
                "--on localhost:1 --work-dir /tmp | --work-dir has no meaning with --on",
                "--on localhost:1 --from /tmp | --from has no meaning with --on",
                "--on localhost:1 --checkpoint-dir /tmp | --checkpoint-dir has no meaning with",
                "--checkpoint-dir /tmp --checkpoint-interval off | --checkpoint-dir needs",
                "--checkpoint-dir s3://a^b/c | --checkpoint-dir s3://a^b/c: Illegal character",
                "--on localhost:1 --input - | --input - reads standard input",
                "--on localhost:1 --output - | --output - prints the rows",
                "--bakend afterbay | --backend",
                "surplus | surplus",
                "--input | --input",
            })
    void wrongOptionsEndWithTwoAndSayWhatIsRight(String arguments, String message) {
        assertThat(runJob(arguments.strip().split(" "))).isEqualTo(2);
        assertThat(err.toString()).contains("afterbay run traffic-jam: ").contains(message.strip());
    }

    @Test
    void missingAndUnknownVerbsEndWithTwoAndTheUsage() {
        for (String[] args : new String[][] {{}, {"walk"}, {"run"}, {"run", "nothing"}}) {
            assertThat(run(args)).as(String.join(" ", args)).isEqualTo(2);
            assertThat(err.toString()).contains("Usage: afterbay");
        }
    }

    @Test
    void helpShowsEveryOptionAndExamples() {
        assertThat(runJob("--help")).isZero();
        assertThat(out.toString())
                .contains("--input", "--backend", "--parallelism", "--memory")
                .contains("--checkpoint-dir", "--from")
                .contains("--checkpoint-interval", "--rate", "--output", "--json", "--repeat")
                .contains("--payload", "--rejects", "--work-dir", "--verbose")
                .contains("Examples:", "Exit codes:");
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).contains("Flink 2.3.0").doesNotContain("${");
    }

    /** Picocli takes texts for formats, and warns of what is none beside what it prints. */
    @Test
    void everyHelpIsFormatted() {
        PrintStream before = System.err;
        ByteArrayOutputStream warnings = new ByteArrayOutputStream();
        System.setErr(new PrintStream(warnings, true, StandardCharsets.UTF_8));
        try {
            assertIsFormatted(Afterbay.commandLine());
        } finally {
            System.setErr(before);
        }
        assertThat(warnings.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    private static void assertIsFormatted(CommandLine command) {
        assertThat(command.getUsageMessage())
                .contains(command.getCommandSpec().qualifiedName())
                .doesNotContain("%%", "%n", "${");
        command.getSubcommands().values().forEach(CommandLineTest::assertIsFormatted);
    }

    @Test
    void inputsThatAreNoTraceEndWithOne() throws IOException {
        Path empty = Files.writeString(directory.resolve("empty.csv"), "");
        Path other = Files.writeString(directory.resolve("other.csv"), "a,b\n");
        failed("no such file", "--input", directory.resolve("none").toString());
        failed("is a directory", "--input", directory.toString());
        failed("is empty", "--input", empty.toString());
        failed("expected the header", "--input", other.toString());
    }

    @Test
    void filesThatCannotBeWrittenEndWithOne() throws IOException {
        Path trace = Files.writeString(directory.resolve("trace.csv"), HEADER);
        for (String option : List.of("--output", "--rejects", "--json")) {
            String in = trace.toString();
            failed("is a directory", "--input", in, option, directory.toString());
            failed("create it first", "--input", in, option, directory.resolve("a/b").toString());
            failed("also the file of --input", "--input", in, option, in);
        }
        String same = directory.resolve("same").toString();
        failed("also the file of --output", "--output", same, "--json", same);
        failed("--work-dir", "--work-dir", directory.resolve("none").toString());
        assertThat(trace).hasContent(HEADER);
    }

    private void failed(String message, String... args) {
        assertThat(runJob(args)).as(String.join(" ", args)).isEqualTo(1);
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(err.toString()).contains(message);
    }

    private int runJob(String... args) {
        List<String> all = new ArrayList<>(List.of("run", "traffic-jam"));
        all.addAll(List.of(args));
        return run(all.toArray(String[]::new));
    }

    private int run(String... args) {
        err.getBuffer().setLength(0);
        CommandLine command = Afterbay.commandLine();
        command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
        return command.execute(args);
    }
}
