package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.command.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code run profiles} and {@code replay profiles}, in processes of their own. */
class ProfilesRunTest {
    private static final List<String> SIZE =
            List.of("--members", "5000", "--changes", "45000", "--memory", "1g");

    @TempDir private Path directory;
    private Command command;

    @BeforeEach
    void makeCommand() {
        command = new Command(directory);
    }

    @Test
    void aReplayHasTheRowsOfItsRange() throws Exception {
        Path all = directory.resolve("all.csv");
        assertThat(
                        command(
                                List.of(
                                        "run",
                                        "profiles",
                                        "--output",
                                        all.toString(),
                                        "--verify",
                                        "--json",
                                        command.json())))
                .as(() -> text())
                .isZero();
        JsonNode summary = command.summary();
        assertThat(summary.get("verified").asBoolean()).isTrue();
        assertThat(summary.get("rows").asLong()).isEqualTo(50_000);
        assertThat(command.out()).contains("titles by dictionary 2", "equal to the answer");

        Path past = directory.resolve("past.csv");
        assertThat(
                        command(
                                List.of(
                                        "replay",
                                        "profiles",
                                        "--from",
                                        "@4",
                                        "--to",
                                        "@20",
                                        "--nice",
                                        "0",
                                        "--dir",
                                        directory.resolve("replays").toString(),
                                        "--output",
                                        past.toString())))
                .as(() -> text())
                .isZero();
        List<String> range = new ArrayList<>();
        for (String row : Files.readAllLines(all)) {
            if (row.startsWith("member") || isBetween(row, 4_000_000, 20_000_000)) {
                range.add(row);
            }
        }
        assertThat(range).hasSize(16_001);
        assertThat(Files.readAllLines(past)).containsExactlyInAnyOrderElementsOf(range);
    }

    @Test
    void wrongOptionsEndWithTwoAndSayWhatIsRight() {
        assertThat(refused("run", "profiles", "--dictionary", "3"))
                .contains("--dictionary 3: use a number from 1 to 2");
        assertThat(refused("replay", "profiles", "--from", "@1", "--members", "0"))
                .contains("--members 0: use a number from 1");
    }

    private static String refused(String... args) {
        StringWriter err = new StringWriter();
        CommandLine line = Afterbay.commandLine().setErr(new PrintWriter(err, true));
        assertThat(line.execute(args)).isEqualTo(ExitCode.USAGE);
        return err.toString();
    }

    private static boolean isBetween(String row, long fromMicros, long toMicros) {
        long micros = Long.parseLong(row.substring(row.lastIndexOf(',') + 1));
        return micros >= fromMicros && micros < toMicros;
    }

    private int command(List<String> args) throws Exception {
        List<String> all = new ArrayList<>(args);
        all.addAll(SIZE);
        return command.run(all.toArray(String[]::new));
    }

    private String text() {
        try {
            return command.err();
        } catch (Exception e) {
            return e.toString();
        }
    }
}
