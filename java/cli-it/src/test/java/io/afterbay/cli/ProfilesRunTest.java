package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.command.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    void wrongOptionsEndWithTwoAndSayWhatIsRight() throws Exception {
        assertThat(command.run("run", "profiles", "--dictionary", "3")).isEqualTo(ExitCode.USAGE);
        assertThat(command.err()).contains("--dictionary 3: use a number from 1 to 2");
        assertThat(command.run("replay", "profiles", "--from", "@1", "--members", "0"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(command.err()).contains("--members 0: use a number from 1");
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
