package io.afterbay.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.cli.Afterbay;
import io.afterbay.command.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.TypeConversionException;

/** What is refused before a replay begins, of which nothing is left then. */
class ReplayRefusalsTest {
    private final StringWriter err = new StringWriter();
    @TempDir private Path directory;
    @TempDir private Path scripts;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                " | Missing required option: '--from=T'",
                "--from soon | 'soon' is no moment",
                "--from @10 --to @10 | the range is empty",
                "--from now | the range is empty",
                "--from -1min --to -2min | the range is empty",
                "--from @0 --rate 0 | '0' is no rate",
                "--from @0 --rate fast | 'fast' is no rate",
                "--from @0 --id ../up | --id ../up",
                "--from @0 --checkpoint-interval off | give a --checkpoint-interval",
                "--from @0 --checkpoint-interval 1ms | 10ms or more",
                "--from @0 --memory 64m | needs at least",
                "--from @0 --nice 20 | '20' is no niceness; use 0 (like other processes) to 19",
                "--from @0 --nice -1 | '-1' is no niceness",
                "--from @0 --nice low | 'low' is no niceness",
                "--from @0 --nice 5 --on a:1 | --nice has no meaning with --on",
                "--from @0 --input - | name a file",
                "--from @0 -D state.backend.type=hashmap | use --backend instead",
            })
    void wrongOptionsEndWithTwoAndSayWhatIsRight(String arguments, String message) {
        List<String> args = new ArrayList<>(List.of("traffic-jam"));
        if (arguments != null) {
            args.addAll(List.of(arguments.strip().split(" ")));
        }
        assertThat(replay(args.toArray(String[]::new))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString())
                .contains("afterbay replay traffic-jam: ")
                .contains(message.strip());
        assertThat(directory).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--mode aside | 'aside' is no mode; use beside or blocking",
                "--mode blocking | name its cluster with --on HOST:PORT, and it with --live JOBID",
                "--mode blocking --on a:1 | name its cluster with --on HOST:PORT, and it with --live",
                "--mode blocking --resolver live | are for --mode beside: add it",
                "--resolver live | are for --mode beside: add it",
                "--live-since @5 | are for --mode beside: add it",
                "--mode beside --own-output | use one of them",
            })
    void optionsOfTheOutputThatDoNotFitAreRefused(String arguments, String message)
            throws Exception {
        Path script = Files.writeString(scripts.resolve("job.sql"), "SELECT 1;");
        List<String> args = new ArrayList<>(List.of("sql", script.toString(), "--from", "@0"));
        args.addAll(List.of(arguments.strip().split(" ")));
        assertThat(replay(args.toArray(String[]::new))).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains(message.strip());
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aTraceThatIsNoneLeavesNoReplay() {
        assertThat(replay("traffic-jam", "--from", "@0", "--input", "/nowhere/trace.csv"))
                .isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString()).contains("/nowhere/trace.csv: no such file");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void aNameThatIsTakenIsRefused() throws Exception {
        Files.createDirectory(directory.resolve("mine"));
        assertThat(replay("traffic-jam", "--from", "@0", "--id", "mine"))
                .isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString()).contains("--id mine: there is a replay of that name");
    }

    @ParameterizedTest
    @CsvSource({"pause", "resume", "cancel", "remove", "status"})
    void anUnknownReplayIsNamed(String verb) {
        assertThat(replay(verb, "nothing")).isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString())
                .contains("there is no replay nothing in " + directory, "replay status");
    }

    @Test
    void momentsAreReadInEachOfTheirForms() {
        Moment moment = new Moment();
        Instant now = moment.convert("now");
        assertThat(moment.convert("-15min")).isEqualTo(now.minusSeconds(900));
        assertThat(moment.convert("@600")).isEqualTo(Instant.ofEpochSecond(600));
        assertThat(moment.convert("@1.5")).isEqualTo(Instant.ofEpochMilli(1500));
        assertThat(moment.convert("1970-01-01T01:00:00+01:00")).isEqualTo(Instant.EPOCH);
        for (String wrong : List.of("", "600", "2026-11-28", "-", "@", "-5", "2026-11-28T09:00")) {
            assertThat(conversion(moment, wrong)).as(wrong).contains("'");
        }
    }

    private static String conversion(Moment moment, String text) {
        try {
            return "accepted as " + moment.convert(text).toEpochMilli();
        } catch (TypeConversionException e) {
            return e.getMessage();
        }
    }

    private int replay(String... args) {
        List<String> all = new ArrayList<>(List.of("replay"));
        all.addAll(List.of(args));
        all.addAll(List.of("--dir", directory.toString()));
        CommandLine command = Afterbay.commandLine();
        command.setErr(new PrintWriter(err, true));
        return command.execute(all.toArray(String[]::new));
    }
}
