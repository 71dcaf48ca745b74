package io.afterbay.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.replay.ReplayVerb;
import io.afterbay.command.ExitCode;
import io.afterbay.replay.ReplayControl;
import io.afterbay.replay.ReplayProgress;
import io.afterbay.testing.Await;
import io.afterbay.testing.OwnJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A replay as users run it: in a process of its own, told something by other processes. */
class ReplayRunTest {
    private static final Path HOME = Path.of("../..").toAbsolutePath().normalize();
    private static final Path EXPECTED = HOME.resolve("examples/traffic-jam/expected.csv");

    /** Seconds of the trace: a quarter of its windows. */
    private static final int FROM = 300;

    private static final int TO = 600;

    /** That many are in them. */
    private static final int REPORTS = 194_458;

    private static final int WINDOWS = 30;

    /** In the ranking of each. */
    private static final int STREETS = 5;

    /** Records per second: on a busy machine, too, a replay is not done before it is told. */
    private static final String SLOW = "1000";

    /** In the directory that the replay is started in, and not in that of other commands. */
    private static final String ROWS = "rows.csv";

    /** Its place behind the name in /proc/PID/stat (proc(5)). */
    private static final int NICE = 16;

    private static final int NICE_MAX = 19;

    private static final String ID = "past";

    @TempDir private Path directory;
    private final List<Process> started = new ArrayList<>();
    private int commands;
    private Path out;
    private Path err;

    @BeforeEach
    void makeDirectories() throws IOException {
        Files.createDirectories(directory.resolve("work"));
    }

    @Test
    void aReplayThatWasPausedAndKilledGoesOnAndYieldsTheRowsOfItsRange() throws Exception {
        Path rows = directory.resolve(ROWS);
        Process replay =
                start(
                        "traffic-jam",
                        "--from",
                        "@" + FROM,
                        "--to",
                        "@" + TO,
                        "--rate",
                        SLOW,
                        "--nice",
                        "0",
                        "--id",
                        ID,
                        "--checkpoint-interval",
                        "200ms",
                        "--memory",
                        "1g",
                        "--work-dir",
                        directory.resolve("work").toString(),
                        "--output",
                        ROWS);
        Path progress = err;
        Await.until(
                () -> "a part is done: " + text(progress),
                () -> replay.isAlive() && records() > REPORTS / 50 && hasCheckpoint());

        assertOk(verb("pause", ID));
        assertThat(status().get("state").asText()).isEqualTo("paused");
        Await.until("no more records come", () -> progress().recordsPerSecond() == 0);
        assertThat(replay.isAlive()).isTrue();
        assertThat(status().get("share").asDouble()).isLessThan(1);
        assertThat(status().at("/priority/nice").asInt()).isZero();
        Await.until(
                () -> "it says how nice it is: " + text(progress),
                () -> text(progress).contains(", with nice 0"));

        List<ProcessHandle> worker = replay.children().toList();
        assertThat(worker).isNotEmpty();
        replay.destroyForcibly();
        Await.until("the worker ends too", () -> worker.stream().noneMatch(ProcessHandle::isAlive));
        Await.until("its files are gone", () -> isEmpty(directory.resolve("work")));
        assertThat(verb("status", ID).out())
                .contains("interrupted", "./afterbay replay resume " + ID);

        assertOk(verb("rate", ID, "max"));
        assertThat(end(start("resume", ID, "--nice", "1"))).as(() -> text(err)).isZero();
        assertThat(text(err)).contains("starting from ").contains("checkpoints");

        JsonNode status = status();
        assertThat(status.get("state").asText()).isEqualTo("finished");
        assertThat(status.get("share").asDouble()).isEqualTo(1);
        assertThat(status.get("records").asLong()).isEqualTo(REPORTS);
        assertThat(status.at("/priority/nice").asInt()).isEqualTo(1);
        assertThat(Files.readAllLines(rows)).isEqualTo(rowsOfRange());
        ReplayVerb again = verb("resume", ID);
        assertThat(again.code()).isEqualTo(ExitCode.FAILURE);
        assertThat(again.err()).contains("replay past is finished");
    }

    /** Beside busy processes one like that hardly starts: it need not. */
    @Test
    void itsProcessLeavesMostToOthersByDefault() throws Exception {
        Process replay =
                start(
                        "traffic-jam",
                        "--from",
                        "@" + FROM,
                        "--rate",
                        SLOW,
                        "--id",
                        ID,
                        "--memory",
                        "1g",
                        "--work-dir",
                        directory.resolve("work").toString());
        // Before it, the command starts a JVM that tries its options.
        Await.until(
                () -> "its process: " + text(err),
                () -> replay.isAlive() && replay.children().anyMatch(ReplayRunTest::isNice));
        assertThat(verb("status", ID).out()).contains(", nice 10");
        assertThat(status().at("/priority/nice").asInt()).isEqualTo(10);
        Kill.all(replay.descendants().toList());
        Await.until("the command ends", () -> !replay.isAlive());
    }

    @Test
    void aReplayThatIsCancelledEndsAndLeavesNoCheckpoints() throws Exception {
        Process replay =
                start(
                        "traffic-jam",
                        "--from",
                        "@" + FROM,
                        "--to",
                        "@" + TO,
                        "--rate",
                        SLOW,
                        "--nice",
                        "0",
                        "--id",
                        ID,
                        "--checkpoint-interval",
                        "200ms",
                        "--memory",
                        "1g",
                        "--work-dir",
                        directory.resolve("work").toString());
        Await.until("a checkpoint is there", () -> replay.isAlive() && hasCheckpoint());
        assertOk(verb("cancel", ID));
        Await.until("the command ends", () -> !replay.isAlive());
        assertThat(replay.exitValue()).isEqualTo(ExitCode.FAILURE);
        assertThat(status().get("state").asText()).isEqualTo("cancelled");
        assertThat(checkpoints()).doesNotExist();
    }

    private Path ofReplay() {
        return replays().resolve(ID);
    }

    private Path checkpoints() {
        return ofReplay().resolve("checkpoints");
    }

    private boolean hasCheckpoint() throws IOException {
        if (!Files.exists(checkpoints())) {
            return false;
        }
        try (var files = Files.find(checkpoints(), 3, (path, kind) -> path.endsWith("_metadata"))) {
            return files.findAny().isPresent();
        } catch (UncheckedIOException e) {
            return false; // Flink has removed one meanwhile
        }
    }

    private ReplayProgress progress() throws IOException {
        return new ReplayControl(ofReplay().resolve("control").toUri())
                .progress()
                .orElse(new ReplayProgress(0, 0, 0, false));
    }

    private long records() throws IOException {
        return progress().records();
    }

    private JsonNode status() throws Exception {
        ReplayVerb status = verb("status", ID, "--json");
        assertOk(status);
        return new ObjectMapper().readTree(status.out()).get(0);
    }

    /** What starts no process, told by this one. */
    private ReplayVerb verb(String... words) {
        return ReplayVerb.run(replays(), words);
    }

    private Path replays() {
        return directory.resolve("replays");
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.findAny().isEmpty();
        }
    }

    /** Each window of the job is by itself, and begins and ends within the range. */
    private static List<String> rowsOfRange() throws IOException {
        List<String> rows = new ArrayList<>();
        for (String row : Files.readAllLines(EXPECTED)) {
            String end = row.substring(0, row.indexOf(','));
            if (rows.isEmpty() || Integer.parseInt(end) > FROM && Integer.parseInt(end) <= TO) {
                rows.add(row);
            }
        }
        assertThat(rows).hasSize(1 + WINDOWS * STREETS);
        return rows;
    }

    private Process start(String... args) throws IOException {
        boolean isJob = args[0].equals("traffic-jam");
        List<String> command = OwnJvm.command(Afterbay.class.getName(), "-Dafterbay.home=" + HOME);
        command.add("replay");
        command.addAll(List.of(args));
        command.addAll(List.of("--dir", replays().toString()));
        commands++;
        out = directory.resolve("out" + commands);
        err = directory.resolve("err" + commands);
        Process process =
                new ProcessBuilder(command)
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .directory((isJob ? directory : directory.resolve("work")).toFile())
                        .start();
        started.add(process);
        return process;
    }

    /** Whether it leaves to others what {@code --nice} has by default. */
    private static boolean isNice(ProcessHandle process) {
        return OS.current() != OS.LINUX
                || nice(process)
                        .equals(
                                nice(ProcessHandle.current())
                                        .map(ours -> Math.min(NICE_MAX, ours + 10)));
    }

    /** How much less priority it has than other processes; nothing if it is gone. */
    private static Optional<Integer> nice(ProcessHandle process) {
        try {
            String all = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
            return Optional.of(
                    Integer.valueOf(all.substring(all.lastIndexOf(')') + 2).split(" ")[NICE]));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static void assertOk(ReplayVerb verb) {
        assertThat(verb.code()).as(verb.err()).isZero();
    }

    private static int end(Process process) throws InterruptedException {
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        return process.exitValue();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @AfterEach
    void endAll() throws Exception {
        for (Process process : started) {
            Kill.tree(process);
        }
    }
}
